"""The command line that calls a tool, for pages to show."""

import shlex
from collections.abc import Mapping
from typing import Any

import orjson

from toolhub_sdk.package import CONTRACT

LONGEST = 2000


def example_arguments(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments to show: those of the tool's first example, else none."""
    examples = definition.get("_meta", {}).get(CONTRACT, {}).get("examples", [])
    return dict(examples[0].get("arguments", {})) if examples else {}


def curl_line(
    public_url: str,
    tool: str,
    arguments: Mapping[str, Any],
    token: str = "$TOKEN",
    more: Mapping[str, Any] | None = None,
) -> str:
    """One line for a POSIX shell. A placeholder like `$TOKEN` stays for the shell to fill in.

    `more` are further members of the call's body.
    """
    body = orjson.dumps({"arguments": arguments, **(more or {})}).decode()
    if len(body) > LONGEST:
        body = '{"arguments":{}}'
    address = f"{public_url.rstrip('/')}/api/v1/tools/{tool}/execute"
    return f'curl -sS {shlex.quote(address)} -H "Authorization: Bearer {token}" -d {shlex.quote(body)}'
