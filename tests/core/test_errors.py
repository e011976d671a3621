"""The tree of errors: every code is whole, and every error leaves as a problem (RFC 9457)."""

import ast
import json
from typing import Any, get_args

import pytest
from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions

from core import errors
from core.codes import CODES, Code, ErrorClass, Severity
from core.errors import Overloaded, RecordUnavailable, ToolHubError, error_object
from core.openapi import PROBLEM, PROBLEMS, problem_examples
from core.problems import as_toolhub_error, drf_exception_handler, problem

# The statuses of the contract, 410 for what age removed, and 500 for mistakes of the hub's own.
STATUSES = {200, 400, 401, 403, 404, 405, 408, 409, 410, 413, 422, 428, 429, 500, 503}


def body_of(error: ToolHubError) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(problem(error).content)
    return parsed


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_every_code_has_a_class_a_severity_a_status_and_a_remedy(code: Code) -> None:
    assert code.type in get_args(ErrorClass)
    assert code.severity in get_args(Severity)
    assert code.status in STATUSES
    assert code.meaning.endswith(".")
    assert code.remedy.endswith(".")
    assert code.name == code.name.upper()


def test_every_code_of_the_contract_that_can_occur_so_far_is_there() -> None:
    expected = """TOOL_NOT_FOUND INVALID_ARGUMENTS INVALID_OUTPUT CAPABILITY_MISSING PERMISSION_DENIED TIMEOUT
        EXECUTION_FAILED RESOURCE_EXCEEDED SANDBOX_UNAVAILABLE QUARANTINED ALREADY_REGISTERED CANCELLED WORKER_LOST
        OUTCOME_UNKNOWN"""
    assert set(expected.split()) <= set(CODES)


def test_every_class_of_error_has_a_code_of_the_tree() -> None:
    classes = [
        each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, ToolHubError)
    ]
    assert len(classes) >= 7
    for each in classes:
        assert each.code in CODES


def test_an_unknown_code_cannot_be_raised_by_the_hub() -> None:
    with pytest.raises(KeyError):
        ToolHubError("x", code="NO_SUCH_CODE")


@pytest.mark.parametrize("code", [c for c in CODES.values() if c.status >= 400], ids=lambda c: c.name)
def test_a_problem_has_the_members_of_rfc_9457_and_the_error_object(code: Code) -> None:
    response = problem(ToolHubError("What was wrong.", code=code.name))
    assert response.status_code == code.status
    assert response["Content-Type"] == "application/problem+json"
    body = json.loads(response.content)
    assert set(body) == set(PROBLEM["required"])
    assert body["type"] == f"/api/docs/errors#{code.name}"
    assert (body["title"], body["status"], body["detail"]) == (code.meaning, code.status, "What was wrong.")
    assert body["error"] == {
        "code": code.name,
        "type": code.type,
        "severity": code.severity,
        "message": "What was wrong.",
        "recoverable": code.recoverable,
        "retryable": False,
        "suggestions": [code.remedy],
        "details": {},
    }


def test_pointers_and_decision_stand_beside_the_error() -> None:
    decision = {"allowed": False, "checks": []}
    error = ToolHubError(
        "No.",
        code="CAPABILITY_MISSING",
        data={"decision": decision, "more": 1},
        errors=[{"pointer": "/a", "message": "m"}],
    )
    body = body_of(error)
    assert body["decision"] == decision
    assert body["errors"] == [{"pointer": "/a", "message": "m"}]
    assert body["error"]["details"] == {"more": 1}
    assert error.data == {"decision": decision, "more": 1}


def test_retry_after_is_in_whole_seconds() -> None:
    assert problem(ToolHubError("Later.", code="OVERLOADED", retry_after=7))["Retry-After"] == "7"


def test_a_401_says_how_to_authenticate() -> None:
    assert problem(ToolHubError("No.", code="UNAUTHENTICATED"))["WWW-Authenticate"].startswith("Bearer ")
    assert "WWW-Authenticate" not in problem(ToolHubError("No.", code="PERMISSION_DENIED"))


TRANSLATIONS: list[tuple[Exception, str, int]] = [
    (Http404(), "NOT_FOUND", 404),
    (exceptions.NotFound(), "NOT_FOUND", 404),
    (exceptions.NotAuthenticated(), "UNAUTHENTICATED", 401),
    (exceptions.AuthenticationFailed(), "UNAUTHENTICATED", 401),
    (PermissionDenied(), "PERMISSION_DENIED", 403),
    (exceptions.MethodNotAllowed("PUT"), "METHOD_NOT_ALLOWED", 405),
    (RequestDataTooBig(), "TOO_LARGE", 413),
    (SuspiciousOperation(), "NOT_JSON", 400),
    (OperationalError("FATAL: password of /var/lib"), "RECORD_UNAVAILABLE", 503),
    (IntegrityError("UNIQUE"), "RECORD_UNAVAILABLE", 503),
    (DatabaseError("disk full"), "RECORD_UNAVAILABLE", 503),
    (DataError("text with NUL in /var/lib"), "INVALID_REQUEST", 422),
    (InterfaceError("connection already closed"), "RECORD_UNAVAILABLE", 503),
]


@pytest.mark.parametrize(("raised", "code", "status"), TRANSLATIONS, ids=lambda v: type(v).__name__)
def test_what_frameworks_raise_is_told_in_the_hubs_own_terms(
    raised: Exception, code: str, status: int
) -> None:
    error = as_toolhub_error(raised)
    assert error is not None
    assert (error.code, error.known.status) == (code, status)
    assert "/var/lib" not in problem(error).content.decode()


def test_a_database_error_is_503_with_retry_after() -> None:
    response = drf_exception_handler(OperationalError("server closed the connection"), {})
    assert response is not None
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0
    assert b"server closed" not in response.content


def test_an_unexpected_error_is_500_without_trace_or_path() -> None:
    try:
        raise RuntimeError("secret at /srv/hub/file.py")
    except RuntimeError as error:
        response = drf_exception_handler(error, {})
    assert response is not None
    assert response.status_code == 500
    assert json.loads(response.content)["error"]["code"] == "INTERNAL"
    for leak in (b"secret", b"/srv", b"Traceback", b".py", b"RuntimeError"):
        assert leak not in response.content


def test_a_tools_own_code_has_class_execution_and_severity_medium() -> None:
    made = error_object(
        "FX_OWN", "m", recoverable=False, retryable=True, suggestions=("s",), details={"a": 1}
    )
    assert made == {
        "code": "FX_OWN",
        "type": "execution",
        "severity": "medium",
        "message": "m",
        "recoverable": False,
        "retryable": True,
        "suggestions": ["s"],
        "details": {"a": 1},
    }


def test_the_api_description_knows_every_code_that_is_an_answer() -> None:
    described = {code for response in PROBLEMS.values() for code in response.description.split(", ")}
    assert described == {code.name for code in CODES.values() if code.status >= 400}


@pytest.mark.parametrize("code", CODES.values(), ids=lambda code: code.name)
def test_what_says_when_to_repeat_says_that_it_can_be_repeated(code: Code) -> None:
    response = problem(ToolHubError("Later.", code=code.name, retry_after=7))
    assert response["Retry-After"] == "7"
    assert json.loads(response.content)["error"]["retryable"] is True


@pytest.mark.parametrize("error", [Overloaded, RecordUnavailable])
def test_an_error_can_be_repeated_without_a_time(error: type[ToolHubError]) -> None:
    assert not error("Later.").retryable
    assert error("Later.", retryable=True).as_error()["retryable"] is True


def test_the_description_of_the_api_shows_the_same() -> None:
    for code in CODES.values():
        example = problem_examples(code.status)[code.name]["value"]
        assert example["error"]["retryable"] == ("Retry-After" in code.remedy)


# Codes whose remedy is to repeat the request after a time, and the classes that raise two of them.
TIMED = {code.name for code in CODES.values() if "after `Retry-After`" in code.remedy}
APPS = ("core", "audit", "security", "registry", "execution", "monitoring", "toolhub")


def _is_timed(call: ast.Call) -> bool:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    named = [word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)]
    return name in {"Overloaded", "RecordUnavailable"} or (name == "ToolHubError" and bool(TIMED & {*named}))


def test_whoever_raises_such_a_code_says_when_to_repeat() -> None:
    calls = [
        (path.name, call)
        for app in APPS
        for path in (settings.ROOT / app).rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and _is_timed(call)
    ]
    assert len(calls) >= 5
    untold = [
        (name, call.lineno) for name, call in calls if "retry_after" not in {w.arg for w in call.keywords}
    ]
    assert not untold
