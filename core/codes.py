"""The one list of the hub's error codes: a new code is a line here.

The docs page of codes and the examples of the API's description are made from it.
"""

from dataclasses import dataclass
from typing import Literal

ErrorClass = Literal["execution", "validation", "timeout", "resource", "security", "network", "dependency"]
Severity = Literal["low", "medium", "high", "critical"]


@dataclass(frozen=True)
class Code:
    """One of the hub's codes: class, severity, HTTP status, what it means and what to do."""

    name: str
    type: ErrorClass
    severity: Severity
    status: int
    recoverable: bool
    meaning: str
    remedy: str


def _codes(*codes: Code) -> dict[str, Code]:
    return {code.name: code for code in codes}


_NOT_JSON = "The body is not JSON as RFC 8259 and RFC 7493 have it."
_SEND_JSON = "Send one JSON object in UTF-8."

CODES: dict[str, Code] = _codes(
    Code("NOT_JSON", "validation", "low", 400, True, _NOT_JSON, _SEND_JSON),
    Code("DUPLICATE_KEY", "validation", "low", 400, True, "An object names a member twice.", "Name it once."),
    Code(
        "NUMBER_NOT_FINITE",
        "validation",
        "low",
        400,
        True,
        "NaN and Infinity are not JSON.",
        "Send null or text.",
    ),
    Code(
        "NUMBER_OUT_OF_RANGE",
        "validation",
        "low",
        400,
        True,
        "A number is beyond a double.",
        "Send it as a string.",
    ),
    Code(
        "NUMBER_NOT_EXACT",
        "validation",
        "low",
        400,
        True,
        "A double cannot hold an integer.",
        "Send it as a string.",
    ),
    Code(
        "LONE_SURROGATE",
        "validation",
        "low",
        400,
        True,
        "A string has half a surrogate pair.",
        "Send whole characters.",
    ),
    Code(
        "TOO_DEEP", "validation", "low", 400, True, "The JSON is nested too deep.", "Nest at most 64 levels."
    ),
    Code("TOO_LARGE", "validation", "low", 413, True, "The request is too large.", "Send at most 1 MiB."),
    Code(
        "UNKNOWN_MEMBER",
        "validation",
        "low",
        422,
        True,
        "The request has a member nobody knows.",
        "Leave it out.",
    ),
    Code(
        "INVALID_REQUEST",
        "validation",
        "low",
        422,
        True,
        "The request does not fit.",
        "Mend what `errors` points to.",
    ),
    Code(
        "INVALID_ARGUMENTS",
        "validation",
        "low",
        422,
        True,
        "The arguments do not fit the tool's schema.",
        "Mend what `errors` points to; GET the tool for its schema.",
    ),
    Code(
        "INVALID_OUTPUT",
        "validation",
        "high",
        200,
        False,
        "The tool's result does not fit its schema.",
        "Tell the tool's author.",
    ),
    Code(
        "UNAUTHENTICATED",
        "security",
        "medium",
        401,
        True,
        "No valid token came with the request.",
        "Send `Authorization: Bearer` with a valid token.",
    ),
    Code(
        "TOOL_NOT_FOUND",
        "validation",
        "low",
        404,
        True,
        "There is no such tool for this caller.",
        "List the tools; ask an admin to assign it.",
    ),
    Code(
        "VERSION_NOT_FOUND",
        "validation",
        "low",
        404,
        True,
        "The tool has no such version.",
        "GET the tool for its versions.",
    ),
    Code(
        "NOT_FOUND",
        "validation",
        "low",
        404,
        True,
        "There is nothing here for this caller.",
        "Check the address.",
    ),
    Code(
        "METHOD_NOT_ALLOWED",
        "validation",
        "low",
        405,
        True,
        "The address does not take this method.",
        "See the `Allow` header.",
    ),
    Code("PERMISSION_DENIED", "security", "medium", 403, True, "A rule forbids the call.", "See `decision`."),
    Code(
        "CAPABILITY_MISSING",
        "security",
        "medium",
        403,
        True,
        "The persona lacks a capability.",
        "Ask for the grant that `decision` names.",
    ),
    Code(
        "VERSION_YANKED",
        "security",
        "medium",
        403,
        True,
        "The version was withdrawn.",
        "Call another version.",
    ),
    Code(
        "QUARANTINED",
        "security",
        "high",
        403,
        True,
        "The tool changed and waits for review.",
        "Ask an admin to review it.",
    ),
    Code(
        "NOT_AVAILABLE",
        "dependency",
        "low",
        422,
        False,
        "This hub does not have that operation yet.",
        "Use execute_chain, or call the tools one by one.",
    ),
    Code(
        "IDEMPOTENCY_CONFLICT",
        "validation",
        "medium",
        409,
        False,
        "The idempotency key was used for another request.",
        "Use a new key for a new request.",
    ),
    Code(
        "ALREADY_REGISTERED",
        "validation",
        "low",
        409,
        False,
        "The name and version exist.",
        "Raise the version.",
    ),
    Code("ALREADY_FINISHED", "validation", "low", 409, False, "The run has an outcome.", "Read the run."),
    Code(
        "RUN_UNFINISHED",
        "validation",
        "low",
        409,
        True,
        "The run has no outcome yet.",
        "Wait for its outcome, or cancel it, and repeat.",
    ),
    Code(
        "PAYLOAD_EXPIRED",
        "validation",
        "low",
        410,
        False,
        "The run's arguments and result were removed with age.",
        "Call the tool anew. The run's hashes and audit are kept.",
    ),
    Code(
        "CONFLICT",
        "validation",
        "low",
        409,
        True,
        "Somebody changed it meanwhile.",
        "Read it again and repeat.",
    ),
    Code(
        "OVERLOADED",
        "resource",
        "medium",
        503,
        True,
        "Too much waits already.",
        "Repeat after `Retry-After`.",
    ),
    Code(
        "RECORD_UNAVAILABLE",
        "dependency",
        "critical",
        503,
        True,
        "The database did not take the record of the call.",
        "Repeat after `Retry-After`.",
    ),
    Code(
        "TIMEOUT",
        "timeout",
        "medium",
        200,
        True,
        "The tool took longer than it may.",
        "Ask for less, or raise its bound.",
    ),
    Code(
        "EXECUTION_FAILED",
        "execution",
        "medium",
        200,
        False,
        "The tool failed.",
        "See its message; tell its author.",
    ),
    Code(
        "RESOURCE_EXCEEDED",
        "resource",
        "medium",
        200,
        False,
        "The tool used more than it may.",
        "Ask for less.",
    ),
    Code(
        "CANCELLED",
        "execution",
        "low",
        200,
        True,
        "The run was cancelled.",
        "Call again if it is still wanted.",
    ),
    Code(
        "WORKER_LOST",
        "execution",
        "high",
        200,
        False,
        "The worker died each time.",
        "Tell an admin; see the attempts.",
    ),
    Code(
        "OUTCOME_UNKNOWN",
        "execution",
        "critical",
        200,
        False,
        "The worker died in the midst of an effect.",
        "A person has to look and resolve the run.",
    ),
    Code(
        "NOT_DONE",
        "execution",
        "high",
        200,
        True,
        "A person looked and found that the work was not done.",
        "Call again if it is still wanted.",
    ),
    Code(
        "CALLBACK_REFUSED",
        "security",
        "medium",
        422,
        True,
        "The hub may not post to this `callback_url`.",
        "Use a public https address, or ask an admin to allow the host with `TOOLHUB_HTTP_ALLOW`.",
    ),
    Code(
        "CALLBACK_UNSIGNED",
        "security",
        "low",
        422,
        True,
        "The persona has no signing secret.",
        "Ask an admin to make one on the persona's page.",
    ),
    Code(
        "CALLBACK_NONE",
        "validation",
        "low",
        409,
        False,
        "The run has no callback.",
        "Read its outcome, or call again with `callback_url`.",
    ),
    Code(
        "SANDBOX_UNAVAILABLE",
        "security",
        "high",
        422,
        True,
        "The isolation asked for cannot be given.",
        "Ask for less isolation, or use a tool that runs in a sandbox.",
    ),
    Code(
        "INTERNAL", "execution", "critical", 500, False, "The hub made a mistake.", "Report the request id."
    ),
)
