"""A person resolves a run whose outcome is unknown: on their word, with a reason, on record, once."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission

from audit.models import Event
from core.errors import Denied, InvalidRequest, ToolHubError
from execution.engine.finish import run_finish
from execution.engine.lease import Lease
from execution.engine.outcomes import success
from execution.engine.perform import queue_work
from execution.engine.results import envelope
from execution.models import Run, Status
from execution.runs.resolve import run_resolve
from execution.runs.verdicts import Verdict
from registry.models import Package
from registry.services import assignment_delete
from security.models import User
from tests.execution.fixtures import reap

pytestmark = pytest.mark.django_db
Leased = Callable[..., Lease]


@pytest.fixture
def lost(leased: Leased, tmp_path: Path) -> Lease:
    """An attempt of an impure tool whose worker died in its midst, reaped."""
    lease = leased("fx_count")
    Run.objects.filter(pk=lease.run.pk).update(arguments={"file": str(tmp_path / "effects")})
    assert reap() == 1
    return lease


@pytest.fixture
def unknown(lost: Lease) -> Run:
    run = now_of(lost.run)
    assert run.status == Status.OUTCOME_UNKNOWN
    return run


def now_of(run: Run) -> Run:
    return Run.objects.select_related("tool_version", "persona").get(pk=run.pk)


def ledger(run: Run) -> list[dict[str, Any]]:
    rows = Event.objects.filter(run_id=run.pk).order_by("id").values_list("canonical", flat=True)
    return [json.loads(row) for row in rows]


def test_done_completes_the_run_with_the_result_that_was_given(admin: User, unknown: Run) -> None:
    new = run_resolve(by=admin, run=unknown, verdict=Verdict.DONE, reason=" saw it ", result={"attempt": 1})
    run = now_of(unknown)
    assert new is None
    assert (run.status, run.result) == (Status.COMPLETED, {"attempt": 1})
    # sha256sum of {"attempt":1}
    digest = "52b9d52738b411875c8fa0233e4e2cabe4579f9609b84bfc58671eae2055df4e"
    assert bytes(run.result_hash or b"").hex() == digest
    assert envelope(run)["success"] is True
    assert run.warnings == ["The worker was lost. admin found that the work was done."]
    resolved, outcome = ledger(run)
    assert resolved["kind"] == "run.resolved"
    assert resolved["data"] == {"as": "done", "reason": "saw it"}
    assert resolved["actor"]["name"] == outcome["actor"]["name"] == "admin"
    assert (outcome["kind"], outcome["data"]["status"]) == ("run.outcome", "completed")
    assert [event.kind for event in run.events.order_by("seq")][-2:] == [
        "RUN_RESOLVED",
        "TOOL_CALL_COMPLETED",
    ]


def test_done_needs_no_result(admin: User, unknown: Run) -> None:
    run_resolve(by=admin, run=unknown, verdict=Verdict.DONE, reason="seen")
    run = now_of(unknown)
    assert (run.status, run.result, run.result_hash) == (Status.COMPLETED, None, None)


def test_not_done_fails_the_run(admin: User, unknown: Run) -> None:
    run_resolve(by=admin, run=unknown, verdict=Verdict.NOT_DONE, reason="no trace of it")
    run = now_of(unknown)
    assert run.status == Status.FAILED
    assert run.error["code"] == "NOT_DONE"


def test_run_anew_fails_the_old_run_and_links_a_new_one_to_it(admin: User, unknown: Run) -> None:
    new = run_resolve(by=admin, run=unknown, verdict=Verdict.ANEW, reason="harmless twice")
    old = now_of(unknown)
    assert new is not None
    assert (old.status, old.error["code"]) == (Status.FAILED, "OUTCOME_UNKNOWN")
    assert (new.status, new.origin_id, new.arguments) == (Status.PENDING, old.pk, old.arguments)
    assert (new.persona_id, new.tool_version_id) == (old.persona_id, old.tool_version_id)
    assert (new.token_id, new.responsible_id) == (None, admin.pk)
    assert ledger(old)[0]["data"] == {"as": "anew", "reason": "harmless twice", "new_run": str(new.pk)}
    assert ledger(new)[0]["data"]["responsible"] == "admin"
    assert queue_work("default") == 1
    assert now_of(new).status == Status.COMPLETED


def test_run_anew_is_refused_when_the_right_is_gone_and_the_run_stays(
    admin: User, unknown: Run, fx: Package
) -> None:
    assignment_delete(by=admin, assignment=fx.assignments.get())
    with pytest.raises(ToolHubError) as refusal:
        run_resolve(by=admin, run=unknown, verdict=Verdict.ANEW, reason="again")
    assert refusal.value.code == "TOOL_NOT_FOUND"
    assert now_of(unknown).status == Status.OUTCOME_UNKNOWN
    assert Run.objects.count() == 1
    assert Event.objects.filter(kind="run.refused").count() == 1
    assert ledger(unknown) == []


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_a_reason_is_required(admin: User, unknown: Run, reason: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        run_resolve(by=admin, run=unknown, verdict=Verdict.NOT_DONE, reason=reason)
    assert refusal.value.errors[0]["pointer"] == "/reason"
    assert now_of(unknown).status == Status.OUTCOME_UNKNOWN


@pytest.mark.parametrize("result", [{"attempt": "one"}, "x" * 2_000_000, {"attempt": 2**60 + 1}])
def test_a_result_has_to_fit_the_tool(admin: User, unknown: Run, result: Any) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        run_resolve(by=admin, run=unknown, verdict=Verdict.DONE, reason="seen", result=result)
    assert refusal.value.errors[0]["pointer"] == "/result"
    assert now_of(unknown).status == Status.OUTCOME_UNKNOWN


def test_only_who_holds_the_permission_resolves(viewer: User, unknown: Run) -> None:
    with pytest.raises(Denied):
        run_resolve(by=viewer, run=unknown, verdict=Verdict.NOT_DONE, reason="no")
    viewer.user_permissions.add(Permission.objects.get(codename="resolve_run"))
    run_resolve(by=User.objects.get(pk=viewer.pk), run=unknown, verdict=Verdict.NOT_DONE, reason="no trace")
    assert now_of(unknown).status == Status.FAILED


def test_a_run_is_resolved_once(admin: User, unknown: Run) -> None:
    run_resolve(by=admin, run=unknown, verdict=Verdict.DONE, reason="seen")
    with pytest.raises(ToolHubError) as refusal:
        run_resolve(by=admin, run=unknown, verdict=Verdict.NOT_DONE, reason="not seen")
    assert refusal.value.code == "ALREADY_FINISHED"
    assert now_of(unknown).status == Status.COMPLETED
    assert Run.objects.count() == 1


@pytest.mark.parametrize("status", [Status.PENDING, Status.RUNNING, Status.WAITING_RETRY])
def test_a_run_that_goes_on_is_not_resolved(
    admin: User, make_run: Callable[..., Run], status: Status
) -> None:
    run = make_run(status=status)
    with pytest.raises(ToolHubError) as refusal:
        run_resolve(by=admin, run=run, verdict=Verdict.ANEW, reason="impatient")
    assert refusal.value.code == "CONFLICT"
    assert Run.objects.count() == 1


def test_a_result_that_comes_after_the_person_changes_nothing(admin: User, lost: Lease) -> None:
    run_resolve(by=admin, run=now_of(lost.run), verdict=Verdict.NOT_DONE, reason="no trace")
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    late = success({"attempt": 1}, started_at=moment, ended_at=moment, duration_ms=1.0)
    assert run_finish(lost, late) is False
    run = now_of(lost.run)
    assert (run.status, run.error["code"]) == (Status.FAILED, "NOT_DONE")
    assert run.events.order_by("-seq")[0].kind == "LATE_RESULT"


def test_a_result_that_came_before_the_person_stands(admin: User, lost: Lease) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    late = success({"attempt": 1}, started_at=moment, ended_at=moment, duration_ms=1.0)
    assert run_finish(lost, late) is True
    with pytest.raises(ToolHubError) as refusal:
        run_resolve(by=admin, run=lost.run, verdict=Verdict.NOT_DONE, reason="no trace")
    assert refusal.value.code == "ALREADY_FINISHED"
    assert now_of(lost.run).result == {"attempt": 1}
