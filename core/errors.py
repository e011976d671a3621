"""The tree of errors that callers can see.

An error is raised deep and translated once: into a problem response (core/problems.py) or into
the `error` of a run's result.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from core.codes import CODES


class ToolHubError(Exception):
    """An error that a caller may see.

    `code` is a name in CODES; `message` says what was wrong and where; `suggestions` what to do;
    `data` goes out as `details`; `errors` are `{pointer, message}` for single fields (RFC 6901);
    `retry_after` is in seconds; `retryable` says that the same call may succeed later, which an error with
    `retry_after` always says.
    """

    code = "INTERNAL"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        recoverable: bool | None = None,
        suggestions: Sequence[str] = (),
        data: Mapping[str, Any] | None = None,
        errors: Sequence[Mapping[str, str]] = (),
        retry_after: int | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code or self.code
        self.message = message
        self.known = CODES[self.code]
        self.recoverable = self.known.recoverable if recoverable is None else recoverable
        self.suggestions = list(suggestions) or [self.known.remedy]
        self.data = dict(data or {})
        self.errors = [dict(error) for error in errors]
        self.retry_after = retry_after
        self.retryable = retryable or retry_after is not None

    def as_error(self) -> dict[str, Any]:
        """The contract's error object."""
        return error_object(
            self.code,
            self.message,
            recoverable=self.recoverable,
            retryable=self.retryable,
            suggestions=self.suggestions,
            details=self.data,
        )


class NotFound(ToolHubError):
    """What does not exist, or may not be seen: the two look alike."""

    code = "NOT_FOUND"


class InvalidRequest(ToolHubError):
    code = "INVALID_REQUEST"


class Denied(ToolHubError):
    """A decision said no; `data` holds it."""

    code = "PERMISSION_DENIED"


class Postponed(Denied):
    """A change that waits for somebody else's yes; a page keeps it and leads to it."""

    def keep(self) -> str:
        """Keep the change; return the address of the page that shows it."""
        raise NotImplementedError


class Conflict(ToolHubError):
    code = "CONFLICT"


class Overloaded(ToolHubError):
    code = "OVERLOADED"


class RecordUnavailable(ToolHubError):
    code = "RECORD_UNAVAILABLE"


def error_object(
    code: str,
    message: str,
    *,
    recoverable: bool | None = None,
    retryable: bool = False,
    suggestions: Sequence[str] = (),
    details: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """`{code, type, severity, message, recoverable, retryable, suggestions, details}`.

    A tool's own code has class execution and severity medium.
    """
    known = CODES.get(code)
    return {
        "code": code,
        "type": known.type if known else "execution",
        "severity": known.severity if known else "medium",
        "message": message,
        "recoverable": (known.recoverable if known else True) if recoverable is None else recoverable,
        "retryable": retryable,
        "suggestions": list(suggestions) or ([known.remedy] if known else []),
        "details": dict(details or {}),
    }
