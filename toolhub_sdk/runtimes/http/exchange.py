"""Tools that are requests on the web: an operation's request made from arguments.

An operation is `{method, path, query?, headers?, settings?, body?}` of a tool's contract. A `{name}` in the
path is an argument, percent-encoded as one segment (RFC 3986). `query` lists arguments, `headers` names an
argument for each header, `body` the argument that is the whole JSON body. `settings` makes headers of the
package's settings and secrets, such as `Bearer {api_key}`. Arguments that are named nowhere go into a JSON
object as body for POST, PUT and PATCH, and into the query for GET and DELETE.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode

from toolhub_sdk.errors import ToolError
from toolhub_sdk.setting_templates import headers_filled

WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
IN_PATH = re.compile(r"\{([^{}/]+)\}")
_VISIBLE = re.compile(r"[\x20-\x7e]*")


@dataclass(frozen=True)
class WebRequest:
    """A request as it goes out; `body` is empty where there is none."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


def named_arguments(operation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every argument that an operation names, with the JSON Pointer of where it does."""
    for name in IN_PATH.findall(operation["path"]):
        yield "/path", name
    for index, name in enumerate(operation.get("query", [])):
        yield f"/query/{index}", name
    for header, name in operation.get("headers", {}).items():
        yield f"/headers/{header}", name
    if "body" in operation:
        yield "/body", operation["body"]


def web_request(
    base: str,
    operation: Mapping[str, Any],
    arguments: Mapping[str, Any],
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> WebRequest:
    """The request that a call means; a header for which a setting is missing is left out.

    Raises ToolError INVALID_ARGUMENTS for values without a place in it, NOT_CONFIGURED for such settings.
    """
    left = dict(arguments)
    method = operation["method"]
    path = IN_PATH.sub(lambda found: _segment(found[1], left.pop(found[1], None)), operation["path"])
    query = [(name, left.pop(name)) for name in operation.get("query", []) if name in left]
    headers = {
        header: _header(name, left.pop(name))
        for header, name in operation.get("headers", {}).items()
        if left.get(name) is not None
    }
    headers |= dict(headers_filled(operation.get("settings", {}), settings))
    content: Any = ...
    if "body" in operation:
        content = left.pop(operation["body"], ...)
    elif method in WITH_BODY:
        content, left = left, {}
    query += left.items()
    pairs = [(name, _text(name, one)) for name, value in query for one in _each(value)]
    url = f"{base.rstrip('/')}{path}{f'?{urlencode(pairs, quote_via=quote)}' if pairs else ''}"
    body = b"" if content is ... else json.dumps(content, ensure_ascii=False).encode()
    if body:
        headers["Content-Type"] = "application/json"
    return WebRequest(method, url, {"Accept": "application/json, */*;q=0.5", **headers}, body)


def _each(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list) else (value,)


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise _unfit(name, "it is no text, number or truth value, which is all that an address can hold")


def _segment(name: str, value: Any) -> str:
    text = _text(name, value)
    if text in {"", ".", ".."}:
        raise _unfit(name, "an address's segment cannot be empty, . or ..")
    return quote(text, safe="")


def _header(name: str, value: Any) -> str:
    text = _text(name, value)
    if not _VISIBLE.fullmatch(text):
        raise _unfit(name, "a header holds visible characters of ASCII only")
    return text.strip()


def _unfit(name: str, why: str) -> ToolError:
    return ToolError("INVALID_ARGUMENTS", f"{name} cannot be sent: {why}.", details={"argument": name})
