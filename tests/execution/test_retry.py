"""A finished run's request made again: a new run, through every check, linked to the old one."""

from collections.abc import Callable
from typing import Any

import pytest

from execution.models import Run, Status
from registry.models import Package
from registry.services import assignment_delete
from security.models import User
from security.services import persona_create, token_create

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
Post = Callable[..., Any]


@pytest.fixture
def first(call: Call, fx: Package) -> dict[str, Any]:
    body = {
        "arguments": {"value": {"b": [1, 2]}},
        "context": {"task_id": "t1"},
        "limits": {"timeoutMs": 500},
    }
    metadata: dict[str, Any] = call("fx_echo", body=body).json()["metadata"]
    return metadata


def test_a_retry_is_a_new_run_of_the_same_request(post: Post, first: dict[str, Any]) -> None:
    answer = post(first["run_id"], "retry")
    assert answer.status_code == 200
    again = answer.json()["metadata"]
    assert answer.json()["data"] == {"b": [1, 2]}
    assert again["run_id"] != first["run_id"]
    assert again["origin"] == first["run_id"]
    assert first["origin"] is None
    old, new = (Run.objects.get(pk=row["run_id"]) for row in (first, again))
    for name in ("arguments", "request", "timeout_ms", "tool_version_id", "persona_id", "token_id"):
        assert getattr(new, name) == getattr(old, name), name


def test_a_retry_with_a_key_is_made_once(post: Post, first: dict[str, Any]) -> None:
    one = post(first["run_id"], "retry", HTTP_IDEMPOTENCY_KEY="k").json()["metadata"]["run_id"]
    two = post(first["run_id"], "retry", HTTP_IDEMPOTENCY_KEY="k").json()["metadata"]["run_id"]
    assert one == two
    assert Run.objects.count() == 2


def test_the_key_of_the_call_itself_is_not_one_of_its_retry(post: Post, call: Call, fx: Package) -> None:
    run_id = call("fx_echo", {"value": 1}, HTTP_IDEMPOTENCY_KEY="k").json()["metadata"]["run_id"]
    answer = post(run_id, "retry", HTTP_IDEMPOTENCY_KEY="k")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "IDEMPOTENCY_CONFLICT")


def test_a_retry_is_refused_when_the_right_is_gone(post: Post, first: dict[str, Any], fx: Package) -> None:
    assignment = fx.assignments.get()
    assignment_delete(by=assignment.assigned_by, assignment=assignment)
    answer = post(first["run_id"], "retry")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "TOOL_NOT_FOUND")
    assert Run.objects.count() == 1


@pytest.mark.parametrize("status", [Status.PENDING, Status.RUNNING, Status.OUTCOME_UNKNOWN])
@pytest.mark.parametrize("act", ["retry", "replay", "cleanup"])
def test_a_run_without_an_outcome_cannot_be_done_again(
    post: Post, make_run: Callable[..., Run], status: Status, act: str
) -> None:
    run = make_run(status=status)
    answer = post(run.pk, act)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "RUN_UNFINISHED")
    assert Run.objects.count() == 1


@pytest.mark.parametrize("act", ["retry", "replay", "cleanup"])
def test_a_run_of_another_persona_does_not_exist(
    post: Post, first: dict[str, Any], admin: User, act: str
) -> None:
    stranger = persona_create(by=admin, name="stranger")
    token = token_create(by=admin, persona=stranger, name="t")[1]
    assert post(first["run_id"], act, token=token).status_code == 404


def test_a_retry_takes_no_body(post: Post, first: dict[str, Any]) -> None:
    answer = post(first["run_id"], "retry", {"arguments": {}})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "UNKNOWN_MEMBER")
