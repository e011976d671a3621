"""Tools that are requests on the web: an operation's request made from arguments, and its answer read.

An operation is `{method, path, query?, headers?, settings?, body?}` of a tool's contract. A `{name}` in the
path is an argument, percent-encoded as one segment (RFC 3986). `query` lists arguments, `headers` names an
argument for each header, `body` the argument that is the whole JSON body. `settings` makes headers of the
package's settings and secrets, such as `Bearer {api_key}`. Arguments that are named nowhere go into a JSON
object as body for POST, PUT and PATCH, and into the query for GET and DELETE.
"""

import base64
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode

from toolhub_sdk.errors import ToolError
from toolhub_sdk.setting_templates import headers_filled
from toolhub_sdk.strict_json import Limits, StrictJSONError, loads

WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
IN_PATH = re.compile(r"\{([^{}/]+)\}")
_VISIBLE = re.compile(r"[\x20-\x7e]*")
_MESSAGE_MOST = 500
# Only these: some of Python's other codecs take very long for hostile bytes.
_CHARSETS = frozenset({"utf-8", "us-ascii", "iso-8859-1", "windows-1252", "utf-16"})

# A pause that a server asks for counts as at most this.
RETRY_AFTER_MOST_S = 86_400


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


def web_result(status: int, headers: Mapping[str, str], body: bytes) -> Any:
    """What an answer means: JSON as its value, other text as text, the rest as `{base64, mediaType}`.

    `headers` has names in small letters. Raises ToolError for every status but 2xx: RATE_LIMIT for 429,
    SERVER_ERROR from 500 on, else EXECUTION_FAILED; with `retry_after_s` in its details where the server asks
    for a pause.
    Raises ToolError INVALID_OUTPUT for a body that is not what its type says.
    """
    media, _, rest = headers.get("content-type", "").partition(";")
    media = media.strip().lower()
    if not 200 <= status < 300:
        raise _refusal(status, headers, body)
    if not body:
        return None
    if media == "application/json" or media.endswith("+json"):
        try:
            return loads(body, limits=Limits(max_bytes=len(body) + 1))
        except StrictJSONError as error:
            said = f"The server's answer is not JSON: {error.message}"
            raise ToolError("INVALID_OUTPUT", said, recoverable=False) from error
    if media.startswith("text/") or media in {"application/xml", "application/yaml", ""}:
        try:
            return body.decode(_charset(rest))
        except (UnicodeDecodeError, LookupError) as error:
            if media:
                said = "The server's answer is not text in the character set that it names."
                raise ToolError("INVALID_OUTPUT", said, recoverable=False) from error
    return {"base64": base64.b64encode(body).decode(), "mediaType": media or "application/octet-stream"}


def _refusal(status: int, headers: Mapping[str, str], body: bytes) -> ToolError:
    details: dict[str, Any] = {"status": status}
    if said := body[:_MESSAGE_MOST].decode(errors="replace").strip():
        details["answer"] = said
    if (pause := retry_after_s(headers.get("retry-after", ""), datetime.now(UTC))) is not None:
        details["retry_after_s"] = pause
    if status == 429:
        # The server turned it away: nothing has happened.
        return ToolError(
            "RATE_LIMIT",
            "The server has had too many requests.",
            retryable=True,
            suggestions=["Call it again later."],
            details=details,
        )
    if status >= 500:
        return ToolError("SERVER_ERROR", f"The server failed with status {status}.", details=details)
    if status < 400:
        said = f"The server answered with status {status}, which is not followed."
        return ToolError("EXECUTION_FAILED", said, recoverable=False, details=details)
    return ToolError("EXECUTION_FAILED", f"The server refused it with status {status}.", details=details)


def retry_after_s(said: str, now: datetime) -> int | None:
    """The seconds that a Retry-After header asks for, a day at most; None for one that says no time.

    RFC 9110 §10.2.3: whole seconds, or a date.
    """
    said = said.strip()
    if said.isascii() and said.isdigit():
        return min(int(said[:9]), RETRY_AFTER_MOST_S)
    try:
        at = parsedate_to_datetime(said[:64])
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max(math.ceil((at - now).total_seconds()), 0), RETRY_AFTER_MOST_S)


def _charset(parameters: str) -> str:
    found = re.search(r"charset=\"?([\w.:-]{1,40})", parameters.lower())
    if found and found[1] not in _CHARSETS:
        raise LookupError(found[1])
    return found[1] if found else "utf-8"


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
