"""Examples for the API's description, where nobody wrote one: made from the schema, the same each time."""

from collections.abc import Mapping
from typing import Any

# What a member of that name looks like. A schema's own example, default or enumeration comes first.
MEMBERS: Mapping[str, Any] = {
    "name": "forecast",
    "tool": "forecast",
    "tool_name": "forecast",
    "package": "weather",
    "title": "Forecast",
    "description": "The weather of the next days at a place.",
    "version": "1.4.0",
    "persona": "researcher",
    "status": "completed",
    "state": "active",
    "code": "INVALID_ARGUMENTS",
    "type": "validation",
    "severity": "low",
    "message": "“days” must be at most 14.",
    "pointer": "/arguments/days",
    "reason": "Superseded by 1.5.0.",
    "session_id": "default",
    "task_id": "default",
    "loop_id": "default",
    "agent_id": "default",
    "user_id": "default",
    "category": "network",
    "tag": "weather",
    "cursor": "forecast",
    "next": None,
    "email": "admin@example.org",
    "url": "https://hooks.example.org/toolhub",
    "callback_url": "https://hooks.example.org/toolhub",
    "location": "https://git.example.org/weather.git",
    "ref": "v1.4.0",
    "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "arguments_hash": "3c9909afec25354d551dae21590bb26e38d53f2173b8d3dc3eee4c047e7ab1c1",
    "result_hash": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
    "audit_leaf": "2c624232cc87b92e8ec8a1c3a3e1b3b1b5d1f1a4d0f5c5fd2a2b5e1a1ff3c6a0",
    "duration_ms": 12.4,
    "timeoutMs": 30_000,
    "attempts": 1,
    "seq": 1,
    "count": 4,
    "total": 4,
}
TEXTS: Mapping[str, str] = {
    "date-time": "2030-01-31T09:00:00Z",
    "date": "2030-01-31",
    "uuid": "01890a5d-ac96-774b-bcce-b302099a8057",
    "uri": "https://example.org/",
    "email": "admin@example.org",
    "binary": "(the file's bytes)",
}
DEEPEST = 12


def example_of(schema: Any, name: str = "", depth: int = 0) -> Any:
    """A value that fits the schema; `name` is the member that it stands for."""
    if not isinstance(schema, Mapping) or not schema:
        return MEMBERS.get(name, {})
    for given in ("example", "const", "default"):
        if given in schema:
            return schema[given]
    if "examples" in schema:
        return schema["examples"][0]
    if "enum" in schema:
        return schema["enum"][0]
    for ways in ("anyOf", "oneOf"):
        if ways in schema:
            return example_of(schema[ways][0], name, depth)
    if "allOf" in schema:
        parts = [example_of(part, name, depth) for part in schema["allOf"]]
        return {key: value for part in parts for key, value in part.items()}
    return _of_type(schema, name, depth)


def _of_type(schema: Mapping[str, Any], name: str, depth: int) -> Any:
    types = schema.get("type", "object" if "properties" in schema else None)
    kind = types[0] if isinstance(types, list) else types
    known = MEMBERS.get(name)
    match kind:
        case "object":
            members = schema.get("properties", {}) if depth < DEEPEST else {}
            return {key: example_of(member, key, depth + 1) for key, member in members.items()}
        case "array":
            single = name.removesuffix("s")
            return [example_of(schema.get("items"), single, depth + 1)] if depth < DEEPEST else []
        case "string":
            text = TEXTS.get(schema.get("format", "")) or (known if isinstance(known, str) else "text")
            return text[: schema.get("maxLength", len(text))]
        case "integer" | "number":
            fits = isinstance(known, int) or (kind == "number" and isinstance(known, float))
            return max(known if fits else 1, schema.get("minimum", 0))
        case "boolean":
            return True
        case "null":
            return None
    return known if known is not None else {}
