"""Reads what MCP clients send, without the official types.

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

CALL = "tools/call"
Check = Callable[[Any], bool]


@dataclass(frozen=True)
class Request:
    """A request: its id, the protocol's revision, the method, and its params, empty where it has none."""

    number: int | str
    version: str
    method: str
    params: dict[str, Any]

    @property
    def tool(self) -> str:
        """The name of the tool that a call names."""
        return str(self.params["name"])


@dataclass(frozen=True)
class Notification:
    """A message that nobody answers."""


def message_read(message: Any, headers: Mapping[str, str]) -> Request | Notification | None:
    """Return what a parsed message is; None where the official types must look.

    `headers` are the request's, by their names in WSGI.
    """
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    method, params = message.get("method"), message.get("params")
    if not isinstance(method, str) or not isinstance(params, dict | None):
        return None
    if "id" not in message:
        return Notification()
    number = message["id"]
    if not isinstance(number, int | str) or isinstance(number, bool):
        return None
    version = _version(method, params or {}, headers)
    fits = _SHAPES.get((method, version in MODERN_VERSIONS))
    if version is None or fits is None or not fits(params):
        return None
    return Request(number, version, method, params or {})


def _version(method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    named, meta = headers.get(VERSION_HEADER), params.get("_meta")
    if named in MODERN_VERSIONS or (isinstance(meta, dict) and VERSION_KEY in meta):
        return named if _agree(named, method, params, headers) else None
    if method == "initialize":
        asked = params.get("protocolVersion")
        # A client that asks for an unknown one gets the newest, and goes away or takes it.
        return asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
    if named is None:
        return UNNAMED_VERSION
    return named if named in HANDSHAKE_VERSIONS else None


def _agree(named: str | None, method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
    """Whether headers and body of a revision without a handshake say the same."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or named not in MODERN_VERSIONS:
        return False
    if meta.get(VERSION_KEY) != named or headers.get(METHOD_HEADER) != method:
        return False
    name = headers.get(NAME_HEADER)
    return method != CALL or (name == params.get("name") and not (name or "").startswith(ENCODED))


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


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


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
class Shape:
    """Members that an object must have, and may have or be null; others are anything.

    `may_be_missing` says that null is as good as the object.
    """

    needed: Mapping[str, Check] = field(default_factory=dict)
    optional: Mapping[str, Check] = field(default_factory=dict)
    may_be_missing: bool = False

    def __call__(self, value: Any) -> bool:
        if value is None:
            return self.may_be_missing
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


_ICON = Shape(
    needed={"src": _is_text}, optional={"mimeType": _is_text, "sizes": _are_texts, "theme": _is_theme}
)
_INFO = Shape(
    needed={"name": _is_text, "version": _is_text},
    optional={"description": _is_text, "icons": _are_icons, "title": _is_text, "websiteUrl": _is_text},
)
_ELICITATION = Shape(optional={"form": _is_object, "url": _is_object})
_SAMPLING = Shape(optional={"context": _is_object, "tools": _is_object})
_HANDSHAKE_META = Shape(optional={"progressToken": _is_mark})
_HANDSHAKE_CAPABILITIES = Shape(
    optional={
        "elicitation": _ELICITATION,
        "experimental": _are_objects,
        "roots": Shape(optional={"listChanged": _is_flag}),
        "sampling": _SAMPLING,
        "tasks": _is_rare,
    }
)
_MODERN_CAPABILITIES = Shape(
    optional={
        "elicitation": _ELICITATION,
        "experimental": _are_objects,
        "extensions": _are_objects,
        "roots": _is_object,
        "sampling": _SAMPLING,
    }
)
_MODERN_META = Shape(
    needed={VERSION_KEY: _is_text, CAPABILITIES_KEY: _MODERN_CAPABILITIES},
    optional={INFO_KEY: _INFO, LOG_LEVEL_KEY: _is_log_level, "progressToken": _is_mark},
)
# Of the params, by method and whether the revision is one without a handshake.
_SHAPES: Mapping[tuple[str, bool], Shape] = {
    ("initialize", False): Shape(
        needed={"protocolVersion": _is_text, "capabilities": _HANDSHAKE_CAPABILITIES, "clientInfo": _INFO},
        optional={"_meta": _HANDSHAKE_META},
    ),
    ("ping", False): Shape(optional={"_meta": _HANDSHAKE_META}, may_be_missing=True),
    ("tools/list", False): Shape(
        optional={"_meta": _HANDSHAKE_META, "cursor": _is_text}, may_be_missing=True
    ),
    (CALL, False): Shape(
        needed={"name": _is_name},
        optional={"_meta": _HANDSHAKE_META, "arguments": _is_object, "task": _is_rare},
    ),
    ("server/discover", True): Shape(needed={"_meta": _MODERN_META}),
    ("tools/list", True): Shape(needed={"_meta": _MODERN_META}, optional={"cursor": _is_text}),
    (CALL, True): Shape(
        needed={"_meta": _MODERN_META, "name": _is_name},
        optional={"arguments": _is_object, "inputResponses": _is_rare, "requestState": _is_text},
    ),
}
