"""Reads `tools/call`, which agents send most, without the official types.

The official types take a second and 46 MB of a process to load. They accept every message that this reader
accepts, and read the same from it: tests/execution/mcp/test_reader.py compares both. Every other message
goes to them: they accept what is rare, and describe what is wrong.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from execution.entry.mcp.protocol import (
    CAPABILITIES_KEY,
    ENCODED,
    HANDSHAKE_VERSIONS,
    INFO_KEY,
    LOG_LEVEL_KEY,
    LOG_LEVELS,
    METHOD_HEADER,
    MODERN_VERSIONS,
    NAME_HEADER,
    UNNAMED_VERSION,
    VERSION_HEADER,
    VERSION_KEY,
)

METHOD = "tools/call"
Check = Callable[[Any], bool]


@dataclass(frozen=True)
class Call:
    """A request to call a tool: its id, the protocol's revision, and its params as they came."""

    number: int | str
    version: str
    params: dict[str, Any]

    @property
    def name(self) -> str:
        """The tool's name as the client gave it."""
        return str(self.params["name"])


def call_read(message: Any, headers: Mapping[str, str]) -> Call | None:
    """Return the call that a parsed message is; None where the official types must look.

    `headers` are the request's, by their names in WSGI.
    """
    if not isinstance(message, dict) or message.get("method") != METHOD or message.get("jsonrpc") != "2.0":
        return None
    number, params = message.get("id"), message.get("params")
    if not isinstance(number, int | str) or isinstance(number, bool) or not isinstance(params, dict):
        return None
    version = _version(params, headers)
    if version is None or not (_MODERN if version in MODERN_VERSIONS else _HANDSHAKE)(params):
        return None
    return Call(number, version, params)


def _version(params: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    named, meta = headers.get(VERSION_HEADER), params.get("_meta")
    if named in MODERN_VERSIONS or (isinstance(meta, dict) and VERSION_KEY in meta):
        return named if _agree(named, meta, params, headers) else None
    if named is None:
        return UNNAMED_VERSION
    return named if named in HANDSHAKE_VERSIONS else None


def _agree(named: str | None, meta: Any, params: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
    """Whether headers and body of a revision without a handshake say the same."""
    name = headers.get(NAME_HEADER)
    return bool(
        named in MODERN_VERSIONS
        and isinstance(meta, dict)
        and meta.get(VERSION_KEY) == named
        and headers.get(METHOD_HEADER) == METHOD
        and name == params.get("name")
        and not (name or "").startswith(ENCODED)
    )


def _is_mark(value: Any) -> bool:
    """A progress token."""
    return isinstance(value, int | str)


def _is_name(value: Any) -> bool:
    """A text that the database takes."""
    return isinstance(value, str) and "\0" not in value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _are_objects(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_object, value.values()))


def _is_log_level(value: Any) -> bool:
    return isinstance(value, str) and value in LOG_LEVELS


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_icons(value: Any) -> bool:
    return isinstance(value, list) and all(map(_ICON, value))


def _is_theme(value: Any) -> bool:
    return isinstance(value, str) and value in ("dark", "light")


def _is_rare(_value: Any) -> bool:
    """Leave the member to the official types, whatever it is."""
    return False


@dataclass(frozen=True)
class _Shape:
    """Members that an object must have, and may have or be null; others are anything."""

    needed: Mapping[str, Check] = field(default_factory=dict)
    optional: Mapping[str, Check] = field(default_factory=dict)

    def __call__(self, value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        for name, fits in self.needed.items():
            if not fits(value.get(name)):
                return False
        for name, fits in self.optional.items():
            member = value.get(name)
            if member is not None and not fits(member):
                return False
        return True


_CAPABILITIES = _Shape(
    optional={
        "elicitation": _Shape(optional={"form": _is_object, "url": _is_object}),
        "experimental": _are_objects,
        "extensions": _are_objects,
        "roots": _is_object,
        "sampling": _Shape(optional={"context": _is_object, "tools": _is_object}),
    }
)
_ICON = _Shape(
    needed={"src": _is_text}, optional={"mimeType": _is_text, "sizes": _are_texts, "theme": _is_theme}
)
_INFO = _Shape(
    needed={"name": _is_text, "version": _is_text},
    optional={"description": _is_text, "icons": _are_icons, "title": _is_text, "websiteUrl": _is_text},
)
_HANDSHAKE = _Shape(
    needed={"name": _is_name},
    optional={
        "_meta": _Shape(optional={"progressToken": _is_mark}),
        "arguments": _is_object,
        "task": _is_rare,
    },
)
_MODERN = _Shape(
    needed={
        "name": _is_name,
        "_meta": _Shape(
            needed={VERSION_KEY: _is_text, CAPABILITIES_KEY: _CAPABILITIES},
            optional={INFO_KEY: _INFO, LOG_LEVEL_KEY: _is_log_level, "progressToken": _is_mark},
        ),
    },
    optional={"arguments": _is_object, "inputResponses": _is_rare, "requestState": _is_text},
)
