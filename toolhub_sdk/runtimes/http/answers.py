"""What a server's answer means. Nobody here wrote the server: as much of its answer is kept as can be.

JSON is read by these rules, and a note says which of them changed something:

- An integer beyond ±9007199254740991, and a number that a double cannot hold, becomes a text of the same
  characters.
- NaN and the infinities become null.
- Of members with one name the last counts.
- Half of a surrogate pair becomes U+FFFD.
- Strings may hold control characters.

A byte order mark decides the character set, then `charset` of the content type, then it is UTF-8. Text that
does not fit its character set keeps what does, with U+FFFD for the rest. What cannot be read at all is an
error that has the beginning of the text beside it.
"""

import base64
import codecs
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from toolhub_sdk.canonical import SAFE_INTEGER
from toolhub_sdk.errors import ToolError
from toolhub_sdk.strict_json import StrictJSONError, depth_check

# A pause that a server asks for counts as at most this.
RETRY_AFTER_MOST_S = 86_400
# Characters of an answer that stand beside an error.
ANSWER_MOST = 4_000
# By the names that Python has for them. Only these: some of its codecs take very long for hostile bytes.
_CHARSETS = frozenset(
    {
        "ascii",
        "cp1250",
        "cp1251",
        "cp1252",
        "iso8859-1",
        "iso8859-15",
        "iso8859-2",
        "koi8-r",
        "utf-16",
        "utf-16-be",
        "utf-16-le",
        "utf-32",
        "utf-8",
    }
)
# The longest first: that of UTF-32 begins as that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
NUMBERS = f"integers beyond ±{SAFE_INTEGER} and numbers beyond a double are texts"
CONSTANTS = "NaN and infinities are null"
NAMES = "of members with one name the last counts"
HALVES = "halves of characters are replaced"
CHARACTERS = "characters that are not of its character set are replaced"
_PAIRS = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
# No double has more digits that count; longer ones are not even tried.
_DIGITS_MOST = 400


@dataclass(frozen=True)
class Answer:
    """An answer read: its value, and what was mended in it."""

    data: Any
    notes: tuple[str, ...] = ()


def web_result(
    status: int, headers: Mapping[str, str], body: bytes, hide: Callable[[str], str] = str
) -> Answer:
    """What an answer means: JSON as its value, other text as text, the rest as `{base64, mediaType}`.

    `headers` has names in small letters. `hide` takes out of a text what must not be told, before it is cut.
    Raises ToolError for every status but 2xx: RATE_LIMIT for 429, SERVER_ERROR from 500 on, else
    EXECUTION_FAILED; with `retry_after_s` in its details where the server asks for a pause. Raises ToolError
    INVALID_OUTPUT for what its type calls JSON and is none. All have the beginning of the text as `answer` in
    their details.
    """
    if not 200 <= status < 300:
        raise _refusal(status, headers, body, hide)
    media, _, parameters = headers.get("content-type", "").partition(";")
    media = media.strip().lower()
    if not body.strip():
        return Answer(None)
    is_json = media == "application/json" or media.endswith("+json")
    if is_json or media.startswith("text/") or media in {"application/xml", "application/yaml"}:
        text, notes = _decoded(body, parameters)
        return _json_read(text, notes, hide) if is_json else Answer(text, notes)
    if not media:
        try:
            return Answer(body.decode("utf-8-sig"))
        except UnicodeDecodeError:
            pass
    encoded = base64.b64encode(body).decode()
    return Answer({"base64": encoded, "mediaType": media or "application/octet-stream"})


def answer_shown(headers: Mapping[str, str], body: bytes, hide: Callable[[str], str] = str) -> str:
    """The beginning of an answer as text, for what stands beside an error."""
    text, _ = _decoded(body, headers.get("content-type", "").partition(";")[2])
    return hide(text)[:ANSWER_MOST].strip()


def _decoded(body: bytes, parameters: str) -> tuple[str, tuple[str, ...]]:
    """The text, and a note where characters were replaced."""
    name = next((name for mark, name in _MARKS if body.startswith(mark)), None) or _charset(parameters)
    try:
        return body.decode(name), ()
    except UnicodeDecodeError:
        return body.decode(name, "replace"), (CHARACTERS,)


def _charset(parameters: str) -> str:
    found = re.search(r"charset=\"?([\w.:-]{1,40})", parameters.lower())
    try:
        name = codecs.lookup(found[1]).name if found else "utf-8"
    except LookupError:
        return "utf-8"
    return name if name in _CHARSETS else "utf-8"


def _json_read(text: str, notes: tuple[str, ...], hide: Callable[[str], str]) -> Answer:
    reader = _Reader()
    try:
        depth_check(text.encode(errors="replace"))
        value = reader.read(text)
    except StrictJSONError as error:
        raise _no_json(error.message, text, hide) from error
    except json.JSONDecodeError as error:
        raise _no_json(f"{error.msg.removesuffix(' at')} at character {error.pos}.", text, hide) from error
    return Answer(value, (*notes, *reader.notes))


def _no_json(why: str, text: str, hide: Callable[[str], str]) -> ToolError:
    return ToolError(
        "INVALID_OUTPUT",
        f"The server's answer is not JSON: {why}",
        recoverable=False,
        suggestions=["Read the server's answer in `details.answer`."],
        details={"answer": hide(text)[:ANSWER_MOST].strip()},
    )


class _Reader:
    """Reads JSON by the rules of this module; `notes` say what was changed."""

    def __init__(self) -> None:
        # In the order in which they came; a dictionary, since each may come a million times.
        self.notes: dict[str, None] = {}

    def read(self, text: str) -> Any:
        """The value. Raises json.JSONDecodeError."""
        decoder = json.JSONDecoder(
            object_pairs_hook=self._members,
            parse_int=self._integer,
            parse_float=self._fraction,
            parse_constant=self._constant,
            strict=False,
        )
        return decoder.decode(_PAIRS.sub(self._escape, text) if "\\u" in text else text)

    def _members(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            self.notes[NAMES] = None
        return members

    def _integer(self, literal: str) -> int | str:
        if len(literal) <= 17 and -SAFE_INTEGER <= (number := int(literal)) <= SAFE_INTEGER:
            return number
        self.notes[NUMBERS] = None
        return literal

    def _fraction(self, literal: str) -> float | str:
        if len(literal) <= _DIGITS_MOST:
            number = float(literal)
            is_zero = not literal.lower().partition("e")[0].strip("-0.")
            if math.isfinite(number) and (number != 0 or is_zero):
                return number
        self.notes[NUMBERS] = None
        return literal

    def _constant(self, literal: str) -> None:
        self.notes[CONSTANTS] = None

    def _escape(self, found: re.Match[str]) -> str:
        if not found["lone"]:
            return found[0]
        self.notes[HALVES] = None
        return "\\ufffd"


def _refusal(status: int, headers: Mapping[str, str], body: bytes, hide: Callable[[str], str]) -> ToolError:
    details: dict[str, Any] = {"status": status}
    if said := answer_shown(headers, body, hide):
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
