"""Why a tool failed: an exception keeps its text, without secrets and folders; a refused host is named."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from execution.engine.outcomes import Outcome
from execution.models import Status
from execution.runners.causes import cause_text, failed_error, hosts_refused
from security.redaction import Redactor
from security.sandbox.gate import NOT_IN_CONTRACT, Reached


def call_of(*secrets: str, allow: Sequence[str] = ()) -> Any:
    version = SimpleNamespace(declared={"network": {"allow": list(allow)}})
    return SimpleNamespace(tool="fetch", version=version, redactor=Redactor(secrets) if secrets else None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("HTTP Error 404: Not Found", "HTTP Error 404: Not Found"),
        ("[Errno 2] No such file: '/srv/hub/var/x.db'", "[Errno 2] No such file: '…/x.db'"),
        ("see https://example.com/a/b?c=/d/e", "see https://example.com/a/b?c=…/e"),
        ("at /toolhub/package/tool.py, line 3", "at /toolhub/package/tool.py, line 3"),
        ("key s3cr3t-value is wrong", "key [redacted] is wrong"),
        ("two\nlines\x1b[31m\u202e", "two lines\ufffd[31m\ufffd"),
        ("", ""),
        ("password=hunter2 in /srv/x", "password=[redacted] in …/x"),
        ("{'token': 'abc', 'n': 1}", "{'token': '[redacted]', 'n': 1}"),
        ("Authorization: Bearer abc", "Authorization: Bearer [redacted]"),
        ("postgres://ada:pw@host/db", "postgres://ada:[redacted]@host/db"),
    ],
)
def test_a_text_is_one_line_without_secrets_and_folders(text: str, told: str) -> None:
    assert cause_text(call_of("s3cr3t-value"), text) == told


def test_a_text_is_bounded() -> None:
    assert len(cause_text(call_of(), "a" * 10_000)) == 501
    assert len(cause_text(call_of(), "/-" * 10_000)) <= 501


def test_an_exception_without_a_code_keeps_its_text() -> None:
    assert failed_error(call_of(), "ValueError", "no such city")["message"] == (
        "fetch failed with ValueError: no such city"
    )
    assert failed_error(call_of(), "ValueError")["message"] == "fetch failed with ValueError."


REFUSED = Reached("api.example.com", 443, allowed=False, why=NOT_IN_CONTRACT)
INSIDE = Reached("localhost", 80, allowed=False, why="leads to an address which is loopback")


def failed(code: str) -> Outcome:
    now = datetime.now(UTC)
    error = {"code": code, "message": "fetch failed with URLError.", "details": {}, "suggestions": []}
    return Outcome(Status.FAILED, now, now, 1.0, error=error)


@pytest.mark.parametrize(
    ("reached", "code", "words"),
    [
        (REFUSED, "HOST_NOT_ALLOWED", ("api.example.com:443", "network.allow", "author")),
        (INSIDE, "ADDRESS_REFUSED", ("localhost:80", "loopback", "TOOLHUB_HTTP_ALLOW")),
    ],
)
def test_a_host_that_was_refused_is_the_error(reached: Reached, code: str, words: tuple[str, ...]) -> None:
    error = hosts_refused(call_of(allow=["a.example:443"]), failed("EXECUTION_FAILED"), [reached]).error
    assert error
    assert error["code"] == code
    whole = " ".join([error["message"], *error["suggestions"]])
    assert all(word in whole for word in words), whole
    assert error["details"]["refused_hosts"] == [f"{reached.host}:{reached.port}"]
    assert error["details"]["allowed_hosts"] == ["a.example:443"]


def test_a_tool_with_an_error_of_its_own_keeps_it() -> None:
    error = hosts_refused(call_of(), failed("NO_WEATHER"), [REFUSED]).error
    assert error
    assert (error["code"], error["details"]["refused_hosts"]) == ("NO_WEATHER", ["api.example.com:443"])


def test_hosts_that_were_let_through_change_nothing() -> None:
    outcome = failed("EXECUTION_FAILED")
    assert hosts_refused(call_of(), outcome, [Reached("a", 80, allowed=True)]) is outcome


@pytest.mark.django_db
def test_a_built_in_tool_that_raises_says_why(fx: object, call: Callable[..., Any]) -> None:
    error = call("fx_boom", {}).json()["error"]
    assert error["code"] == "EXECUTION_FAILED"
    assert error["message"].startswith("fx_boom failed with RuntimeError: ")
