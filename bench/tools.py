"""Tools that only the bench has: echo once more as one that is not pure, and one that asks a server."""

import copy
from typing import Any

from catalogue import data
from core.actors import SYSTEM
from registry.releases.draft import release_draft
from registry.releases.publish import draft_publish, release_publish
from toolhub_sdk.package import CONTRACT, manifest_of
from toolhub_sdk.runtimes.registry import own_runtime


def impure_publish() -> None:
    """Echo as a tool whose accept and start are committed before it works."""
    manifest = manifest_of(data, data.PACKAGE, runtime=own_runtime().name)
    echo = copy.deepcopy(next(each for each in manifest["tools"] if each["name"] == "echo"))
    contract: dict[str, Any] = echo["_meta"][CONTRACT]
    contract.update({"function": "echo", "sideEffects": "impure"})
    echo["name"] = "echo_impure"
    release_publish(by=SYSTEM, manifest={**manifest, "name": "bench-impure", "tools": [echo]}, files={})


def web_publish(port: int) -> None:
    """A tool that posts its arguments to a server on this machine and gives back what that says."""
    text = {"type": "string", "description": "The text."}
    tool = {
        "name": "echo_web",
        "description": "Posts a text to a server, which says it back.",
        "inputSchema": {"type": "object", "properties": {"text": text}, "required": ["text"]},
        "_meta": {
            CONTRACT: {
                "category": "network",
                "network": {"allow": [f"127.0.0.1:{port}"]},
                "resourceBounds": {"timeoutMs": 2000},
                "http": {"method": "POST", "path": "/echo"},
            }
        },
    }
    manifest = {
        "manifestVersion": "1",
        "name": "bench-web",
        "version": "1.0.0",
        "description": "A server on this machine.",
        "runtime": {"type": "http", "entry": f"http://127.0.0.1:{port}"},
        "tools": [tool],
    }
    draft_publish(by=SYSTEM, draft=release_draft(manifest=manifest, files={}))
