"""The next call, in full: what a caller whose call was refused could send instead.

Made only when a call is refused, by the tool's schema and examples and what the caller sent.
"""

import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from core.errors import ToolHubError
from core.json.lenient import json_meant
from execution.engine.requests import MEMBERS, CallRequest
from registry.schemas import input_validator
from registry.selectors import ResolvedTool, tool_resolve
from toolhub_sdk.canonical import SAFE_INTEGER
from toolhub_sdk.checks.near import plain_name
from toolhub_sdk.checks.repair import repaired
from toolhub_sdk.checks.schema_parts import members_of
from toolhub_sdk.package import CONTRACT

# What other interfaces call the arguments, without underscores and case.
ALIASES = frozenset(
    {
        "args", "argument", "argumentsjson", "data", "function", "input", "inputs", "kwargs", "parameters",
        "params", "payload", "toolargs", "toolarguments", "toolinput", "values",
    }
)  # fmt: skip
# What they put beside the arguments.
_ASIDE = frozenset({"name", "tool", "toolname", "type", "id", "callid", "toolcallid", "idempotencykey"})
_DEEPEST = 3
Fits = Callable[[Any], bool]


def next_call_add(
    error: ToolHubError,
    found: ResolvedTool,
    arguments: Any,
    *,
    context: Mapping[str, Any] | None = None,
    fits: Fits | None = None,
) -> None:
    """Put into the error a call of the tool whose arguments fit, where one can be made.

    It is `{tool, arguments}`, with the caller's `context` where there is one; `fits` says whether arguments
    that fit the schema fit the tool's rules, too.
    """
    version = found.version
    if found.assigned_by is None:
        return
    examples = version.definition.get("_meta", {}).get(CONTRACT, {}).get("examples", [])
    known = [one["arguments"] for one in examples if isinstance(one.get("arguments"), dict)]
    made = repaired(input_validator(version.digest, version.definition), arguments, known, fits)
    if not isinstance(made, dict):
        return
    more = {"context": dict(context)} if context else {}
    error.data["next_call"] = {"tool": found.name, "arguments": made, **more}
    body = json.dumps({"arguments": made, **more}, ensure_ascii=False)
    error.suggestions.append(f"Call {found.name} again, for example with {body}.")


def next_call_of_name(error: ToolHubError, name: str, persona_id: int, request: CallRequest) -> None:
    """The same for a tool's name, or none where the persona sees no such tool."""
    with contextlib.suppress(ToolHubError):
        found = tool_resolve(name, persona_id)
        next_call_add(error, found, request.arguments, context=request.context)


def next_call_of_body(
    error: ToolHubError, name: str, persona_id: int, found: ResolvedTool | None, body: Any
) -> None:
    """The same for a body that has not the form of a call; bytes are one that is not JSON."""
    with contextlib.suppress(ToolHubError):
        found = found or tool_resolve(name, persona_id)
        if isinstance(body, bytes):
            body = _read(error, body.decode(errors="replace"))
        schema = found.version.definition["inputSchema"]
        members = members_of(schema, schema)
        if found.assigned_by is not None:
            _place_arguments(error, found.name, members)
        next_call_add(error, found, arguments_meant(body, members))


def _place_arguments(error: ToolHubError, tool: str, members: Mapping[str, Any]) -> None:
    """Say of each unknown member of a request that is an argument of the tool where it belongs."""
    if error.code != "UNKNOWN_MEMBER":
        return
    for one in error.errors:
        name = one["pointer"].removeprefix("/")
        if name in members:
            one["message"] = f'"{name}" is an argument of {tool}: put it under "arguments".'
    first = error.errors[0]
    error.message = f"The request has unknown members. {first['pointer']}: {first['message']}"


def _read(error: ToolHubError, text: str) -> Any:
    """What the text was meant to be; the error says what is wrong with it."""
    try:
        meant, wrong = json_meant(text)
    except ValueError:
        return {}
    if wrong and error.code == "NOT_JSON":
        error.message = f"{error.message} The text has {', and '.join(wrong)}."
    return _exact(meant)


def _exact(value: Any) -> Any:
    """The value with whole numbers that JSON cannot carry exactly as texts."""
    if isinstance(value, dict):
        return {name: _exact(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_exact(part) for part in value]
    return str(value) if isinstance(value, int) and abs(value) > SAFE_INTEGER else value


def arguments_meant(body: Any, known: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return the arguments that a body was meant to have, by the members that the tool's schema names.

    They may be a text of JSON, come under another name, in a call as a model's provider writes it, or stand
    at the top.
    """
    if isinstance(body, str):
        try:
            body, _ = json_meant(body)
        except ValueError:
            return {}
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, Mapping) or depth > _DEEPEST:
        return {}
    inner = [body["arguments"]] if "arguments" in body and "arguments" not in known else []
    inner += [value for name, value in body.items() if plain_name(name) in ALIASES and name not in known]
    top = {
        name: value
        for name, value in body.items()
        if name in known or not (name in MEMBERS or plain_name(name) in ALIASES or plain_name(name) in _ASIDE)
    }
    found = next((made for one in inner if (made := arguments_meant(one, known, depth + 1))), {})
    return {**top, **found}
