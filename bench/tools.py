"""Tools that only the bench has: echo with effects, many times and in a sandbox; one that asks a server."""

from typing import Any

from core.actors import SYSTEM
from registry.archives.zips import zip_write
from registry.models import Archive, Release
from registry.releases.draft import release_draft
from registry.releases.publish import draft_publish, release_publish
from toolhub_sdk.package import CONTRACT

# The same in Python code from outside.
ISOLATED = '''
from typing import Annotated

from toolhub_sdk import Field, tool

@tool(name="echo_isolated")
def echo(text: Annotated[str, Field(description="The text.")]) -> dict[str, str]:
    """Gives back the text."""
    return {"text": text}
'''


def impure_publish() -> None:
    """Echo as a tool whose accept and start are committed before it works."""
    _publish("bench-impure", [_echo("echo_impure", sideEffects="impure")])


def many_publish(count: int) -> list[str]:
    """So many tools that are as echo; gives their names."""
    names = [f"echo_{number}" for number in range(count)]
    _publish("bench-many", [_echo(name) for name in names])
    return names


def isolated_publish() -> None:
    """Echo as Python code that runs in a strict sandbox."""
    echo = _echo("echo_isolated", isolation="strict")
    manifest = {
        "manifestVersion": "1",
        "name": "bench-isolated",
        "version": "1.0.0",
        "description": "Echo in a sandbox.",
        "runtime": {"type": "python", "entry": "bench_isolated"},
        "tools": [echo],
    }
    draft = release_draft(manifest=manifest, files={})
    packed = zip_write({"bench_isolated.py": ISOLATED.encode()})
    archive = Archive(digest=draft.release.digest, content=packed, size=len(packed), files={})
    draft_publish(by=SYSTEM, draft=draft, archive=archive)


def _echo(name: str, **contract: Any) -> dict[str, Any]:
    """The definition of echo under another name, with changes of its contract."""
    echo: dict[str, Any] = next(each for each in _manifest()["tools"] if each["name"] == "echo")
    echo["_meta"][CONTRACT].update({"function": "echo", **contract})
    return {**echo, "name": name}


def _publish(package: str, tools: list[dict[str, Any]]) -> None:
    release_publish(by=SYSTEM, manifest={**_manifest(), "name": package, "tools": tools}, files={})


def _manifest() -> dict[str, Any]:
    """That of the built-in package with echo, as it was published: any version of the hub has it."""
    manifest: dict[str, Any] = Release.objects.get(package__name="toolhub-data").manifest
    return manifest


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
