"""What a tool raises to end with an error that its caller can act on."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_TEXT_MOST = 2_000
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


class ToolError(Exception):
    """The tool failed in a way that it can explain.

    `code` is one of the tool's declared codes (capitals, digits, underscores); `message` says what was
    wrong in one sentence; `suggestions` what the caller can do. `recoverable` means that a caller can
    mend it, by other arguments or later; `retryable` that the same call may succeed when repeated and
    that nothing has happened yet. `details` is a JSON object. Raises ValueError for a malformed code.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        recoverable: bool = True,
        suggestions: Sequence[str] = (),
        details: Mapping[str, Any] | None = None,
        retryable: bool = False,
    ) -> None:
        if not _CODE.fullmatch(code):
            raise ValueError(f"An error code is capitals, digits and underscores, not {code!r}.")
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.recoverable = recoverable
        self.suggestions = tuple(suggestions)
        self.details = dict(details or {})
        self.retryable = retryable

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def exception_text(error: BaseException) -> str:
    """Return the text of an exception, at most 2,000 characters; empty where none can be had."""
    try:
        return str(error)[:_TEXT_MOST]
    except Exception:  # noqa: BLE001 - a tool's own __str__ may do anything
        return ""


class Cancelled(Exception):
    """The run was asked to stop, and the tool did. Let it pass; `ctx.raise_if_cancelled()` raises it."""
