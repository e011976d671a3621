"""What does not fit the published schema, said so that an author knows what to write instead."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolhub_sdk.normal_form import url_split

_TYPES: Mapping[str, str] = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}
# What authors write, who know another format, and what it is called here.
_ALIASES: Mapping[str, str] = {
    "args": "inputSchema",
    "env": "environment",
    "input": "inputSchema",
    "main": "runtime",
    "output": "outputSchema",
    "parameters": "inputSchema",
    "permissions": "requiredCapabilities",
    "returns": "outputSchema",
    "scopes": "requiredCapabilities",
    "timeout": "timeoutMs",
}
_SHOWN = 60


def shown(value: Any) -> str:
    """A value as JSON on one line, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def type_message(types: Sequence[str], value: Any) -> str:
    """It must be one kind, and is another."""
    return f"It must be {' or '.join(_TYPES[one] for one in types)}, not {_kind(value)}."


def _kind(value: Any) -> str:
    if isinstance(value, (Mapping, list)):
        return "an object" if isinstance(value, Mapping) else "a list"
    word = "the text" if isinstance(value, str) else "the number"
    plain = value is None or isinstance(value, bool)
    return shown(value) if plain else f"{word} {shown(value)}"


def type_remedy(types: Sequence[str], schema: Mapping[str, Any], description: str) -> str:
    """What to write where a value of another type stands."""
    if "object" in types and schema.get("properties"):
        names = list(schema.get("required", ())) or list(schema["properties"])[:3]
        members = ", ".join(f'"{name}": …' for name in names)
        return f"Write {{{members}}}. {description}"
    return f"Write a list, in [ and ]. {description}" if types == ["array"] else description


def choice_message(options: Sequence[Any]) -> str:
    """It must be one of some values."""
    return f"It must be one of {', '.join(map(shown, options))}."


def choice_remedy(options: Sequence[Any], value: Any, description: str) -> str:
    """The option that was meant, where one is near."""
    plain = {_plain(one): one for one in options if isinstance(one, str)}
    near = difflib.get_close_matches(_plain(value), plain, 1, 0.75) if isinstance(value, str) else []
    return f"Did you mean {shown(plain[near[0]])}?" if near else description


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def form_remedy(pattern: str, value: Any, description: str) -> str:
    """The text in the form that it must have, where it is easy to say, and what that form is."""
    if not isinstance(value, str) or len(value) > _SHOWN:
        return description
    found = next((one for one in _forms(value) if re.search(pattern, one)), None)
    return f"Write {shown(found)}. {description}" if found else description


def _forms(value: str) -> Iterator[str]:
    """What may have been meant by a text: a version, a host, a pointer, a name."""
    text = value.strip()
    try:
        host = url_split(text).netloc if "://" in text else text
    except ValueError:
        host = text
    yield text
    yield text.lstrip("/")
    yield f"/{text}"
    yield f"{text}.0"
    yield text.lstrip("vV")
    yield f"{host}:443"
    yield text.replace(" ", ":")
    yield re.sub(r"[^A-Za-z0-9_]+", "_", text)
    yield re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    yield re.sub(r"[^A-Z0-9]+", "_", text.upper()).strip("_")


def one_of_words(schema: Mapping[str, Any], value: Any) -> tuple[str, str]:
    """Message and remedy where just one of some members has to be there."""
    names = [part["required"][0] for part in schema.get("oneOf", ()) if "required" in part]
    if isinstance(value, Mapping) and any(name in value for name in names):
        return f"{' and '.join(names)} stand side by side.", "Leave one of them out."
    return f"{' or '.join(names)} is missing.", "Add one of them."


def unknown_remedy(name: str, schema: Mapping[str, Any], inner: Mapping[str, str]) -> str:
    """What to do about a member that is not known; `inner` says where a name has its place instead."""
    known = list(schema.get("properties", ()))
    alias = _ALIASES.get(name, name)
    near = [alias] if alias in known else difflib.get_close_matches(name, known, 1)
    if near:
        return f"Did you mean {near[0]}?"
    if alias in inner:
        return f"{alias} stands in {inner[alias]}." if alias == name else f"Write {alias}, in {inner[alias]}."
    return f"Leave it out. Known are {', '.join(known)}."
