"""Strict reading of request bodies that a JSON Schema describes; the API's description shows the same one."""

from typing import Any

from core.errors import InvalidRequest, ToolHubError
from registry.schemas import ERRORS_SHOWN, TOO_LARGE, Validator, pointer


def body_check(validator: Validator, value: Any, at: str = "") -> None:
    """Holds a value, which stands at a JSON Pointer of the request, to its schema.

    Raises ToolHubError UNKNOWN_MEMBER for members that it does not name, else InvalidRequest, with a
    pointer to each fault.
    """
    if validator.is_valid(value):
        return
    unknown, unfit = [], []
    found = validator.errors(value)
    if found is None:
        unfit.append({"pointer": at + pointer(validator.culprit(value)), "message": TOO_LARGE})
    for error in found or ():
        place = at + pointer(error.instance_path)
        if error.kind.name == "additionalProperties":
            unknown += [place + pointer([name]) for name in error.kind.as_dict()["unexpected"]]
        else:
            unfit.append({"pointer": place, "message": error.message[:300]})
    if unknown:
        errors = [{"pointer": place, "message": "Unknown here."} for place in unknown[:ERRORS_SHOWN]]
        raise ToolHubError("The request has unknown members.", code="UNKNOWN_MEMBER", errors=errors)
    raise InvalidRequest(f"The request does not fit: {unfit[0]['message']}", errors=unfit[:ERRORS_SHOWN])
