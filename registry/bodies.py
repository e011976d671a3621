"""Strict reading of request bodies that a JSON Schema describes; the API's description shows the same one."""

from typing import Any

from core.errors import InvalidRequest, ToolHubError
from registry.schemas import ERRORS_SHOWN, TOO_LARGE, Validator, pointer
from toolhub_sdk.checks.mismatch import mismatches_of


def body_check(validator: Validator, value: Any, at: str = "") -> None:
    """Holds a value, which stands at a JSON Pointer of the request, to its schema.

    Raises ToolHubError UNKNOWN_MEMBER for members that it does not name, else InvalidRequest, with a
    pointer to each fault.
    """
    if validator.is_valid(value):
        return
    unknown: list[dict[str, str]] = []
    unfit: list[dict[str, str]] = []
    found = validator.errors(value)
    if found is None:
        unfit.append({"pointer": at + pointer(validator.culprit(value)), "message": TOO_LARGE})
    for error in found or ():
        problems = unknown if error.kind.name == "additionalProperties" else unfit
        problems += [
            {"pointer": at + pointer(one.path), "message": one.message}
            for one in mismatches_of(error, validator.schema)
        ]
    if unknown:
        message = f"The request has unknown members. {unknown[0]['message']}"
        raise ToolHubError(message, code="UNKNOWN_MEMBER", errors=unknown[:ERRORS_SHOWN])
    raise InvalidRequest(f"The request does not fit: {unfit[0]['message']}", errors=unfit[:ERRORS_SHOWN])
