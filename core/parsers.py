"""DRF's way into the strict JSON parser."""

import re
from typing import IO, Any

from rest_framework.parsers import BaseParser

from core.errors import ToolHubError
from core.json.strict import StrictJSONError, loads

BODY_MAX = 1_048_576


class StrictJSONParser(BaseParser):
    """Parses every body as JSON, whatever its Content-Type says, as documented for agents."""

    media_type = "*/*"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        """Raises ToolHubError with the strict parser's code."""
        return parse_body(stream.read(BODY_MAX + 1))


# The closing delimiter alone: a form without a field. A boundary has at most 70 characters (RFC 2046 §5.1.1).
_EMPTY_FORM = re.compile(rb"--[^\r\n]{1,70}--")


def empty_check(stream: IO[Any] | None) -> None:
    """Raise UNKNOWN_MEMBER for a body that says something, where an operation takes none.

    An empty object, `null` and an empty form (RFC 7578), which clients send by default, say nothing.
    """
    body = (stream.read(BODY_MAX) if stream else b"").strip()
    if body not in (b"", b"{}", b"null") and not _EMPTY_FORM.fullmatch(body):
        message = "This operation takes no body."
        errors = [{"pointer": "", "message": message}]
        raise ToolHubError(message, code="UNKNOWN_MEMBER", suggestions=["Send no body."], errors=errors)


def parse_body(body: bytes) -> Any:
    """The body's JSON value; {} for an empty body. Raises ToolHubError with code, place and remedy."""
    if len(body) > BODY_MAX:
        raise too_large(BODY_MAX)
    if not body:
        return {}
    try:
        return loads(body)
    except StrictJSONError as error:
        place = {} if error.position is None else {"position": error.position}
        raise ToolHubError(f"The body is refused: {error.message}", code=error.code, data=place) from error


def too_large(most: int) -> ToolHubError:
    """A request's body is larger than `most` bytes."""
    size = most // 1_048_576
    return ToolHubError(
        f"The request is larger than {size} MiB.", code="TOO_LARGE", suggestions=[f"Send at most {size} MiB."]
    )
