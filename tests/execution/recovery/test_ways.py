"""More attempts, a chain that goes on or ends, and a person who is asked: the ways beside a fallback."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models.functions import Now
from django.test import Client

from audit.models import Event
from core.outbox.models import Delivery
from core.outbox.send import delivery_try
from core.outbox.services import delivery_claim
from execution.engine.invariants import invariants_check
from execution.engine.submit import run_cancel
from execution.features.recovery.end import escalations_send
from execution.features.recovery.notify import ESCALATION, escalation_notify
from execution.models import Recovery, Run, Status
from execution.runs.resolve import run_resolve
from execution.runs.verdicts import Verdict
from registry.models import Tool
from security.models import Persona, User
from security.permissions import actor_of
from security.sharing.levels import EXECUTE
from security.sharing.services import right_give, team_set
from tests.execution.effects.conftest import state
from tests.execution.fixtures import Declare
from tests.execution.recovery.conftest import Fail, now_of, work

pytestmark = pytest.mark.django_db
MANUAL = {"type": "manual"}


@pytest.mark.parametrize(
    ("contract", "recovery", "more", "attempts"),
    [
        ({}, {"type": "retry", "maxAttempts": 3}, {}, 3),
        ({"retry": "QUICK"}, {"type": "retry", "maxAttempts": 2}, {}, 2),
        ({"retry": "QUICK"}, {"type": "abort", "maxAttempts": 6}, {}, 6),
        ({}, {"type": "skip", "maxAttempts": 3}, {"recoverable": False}, 1),
        ({"sideEffects": "impure", "idempotent": False}, {"type": "retry", "maxAttempts": 3}, {}, 1),
        ({}, {"type": "abort"}, {}, 1),
    ],
)
def test_so_many_attempts_come_first(
    fail: Fail, tmp_path: Path, contract: Any, recovery: Any, more: Any, attempts: int
) -> None:
    columns = {"is_pure": False, "is_idempotent": False} if "idempotent" in contract else None
    arguments = {"file": str(tmp_path / "trace"), **more}
    run = fail(recovery, "fx_fail", contract={**contract, "columns": columns}, arguments=arguments)
    assert (run.status, run.attempt) == (Status.FAILED, attempts)
    assert len((tmp_path / "trace").read_text().splitlines()) == attempts
    details = (run.error or {})["details"]
    assert details["recovery"] == {"type": recovery["type"]}
    assert details.get("reason") == ("MAX_RETRIES_EXCEEDED" if attempts > 1 else None)


@pytest.mark.parametrize(
    ("way", "wish", "third"),
    [
        ("skip", True, "success"),
        ("abort", False, "skipped"),
        (None, True, "skipped"),
        (None, False, "success"),
    ],
)
def test_a_chain_goes_on_or_ends_as_the_contract_says(
    client: Client, token_text: str, declare: Declare, way: str | None, wish: bool, third: str
) -> None:
    declare("fx_boom", recovery={"type": way} if way else {})
    calls = [
        {"id": "a", "toolName": "fx_boom", "arguments": {}},
        {"id": "b", "toolName": "fx_echo", "arguments": {"value": 1}, "dependsOn": ["a"]},
        {"id": "c", "toolName": "fx_echo", "arguments": {"value": 2}},
    ]
    body = {"operation": "execute_chain", "calls": calls, "stopOnError": wish}
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    answer = client.post("/api/v1/execute", body, content_type="application/json", **headers).json()
    steps = {step["id"]: step["status"] for step in answer["flow"]["steps"]}
    assert steps == {"a": "failure", "b": "skipped", "c": third}


def test_a_run_that_is_left_to_a_person_waits_and_its_caller_reads_why(
    call: Callable[..., Any], declare: Declare
) -> None:
    declare("fx_boom", recovery=MANUAL)
    answer = call("fx_boom", {})
    assert (answer.status_code, answer.json()["success"]) == (202, None)
    told = answer.json()["metadata"]
    assert (told["status"], told["recovery"]["error"]["code"]) == ("awaiting_person", "EXECUTION_FAILED")
    work()
    assert Run.objects.get().status == Status.AWAITING_PERSON
    assert not Event.objects.filter(kind="run.outcome").exists()


@pytest.mark.parametrize(
    ("verdict", "status", "code", "runs"),
    [
        (Verdict.DONE, Status.COMPLETED, None, 1),
        (Verdict.NOT_DONE, Status.FAILED, "EXECUTION_FAILED", 1),
        (Verdict.ANEW, Status.FAILED, "EXECUTION_FAILED", 2),
        (Verdict.COMPENSATE, Status.FAILED, "COMPENSATED", 2),
    ],
)
def test_a_person_gives_it_its_one_outcome(
    fail: Fail, admin: User, verdict: Verdict, status: Status, code: str | None, runs: int
) -> None:
    rollback = {"tool": "fx_echo", "arguments": {"value": "result"}}
    run = fail(MANUAL, "fx_boom", contract={"effects": [state("a", value=1, rollback=rollback)]})
    new = run_resolve(by=admin, run=run, verdict=verdict, reason="looked")
    done = now_of(run)
    assert (done.status, (done.error or {}).get("code")) == (status, code)
    assert (new is not None) == (verdict is Verdict.ANEW)
    assert Run.objects.count() == runs
    assert Event.objects.filter(kind="run.outcome", run_id=run.pk).count() == 1
    assert Event.objects.filter(kind="run.resolved", run_id=run.pk).count() == 1
    assert invariants_check().faults == {}


def test_it_can_be_cancelled_while_it_waits(fail: Fail, admin: User) -> None:
    run = fail(MANUAL, "fx_boom")
    assert run_cancel(by=actor_of(admin), run=run) is True
    assert now_of(run).status == Status.CANCELLED
    assert run_cancel(by=actor_of(admin), run=run) is False


def test_its_page_and_the_overview_lead_to_who_resolves_it(fail: Fail, admin: User, client: Client) -> None:
    run = fail(MANUAL, "fx_boom")
    client.force_login(admin)
    assert "1 failed run waits for a person" in client.get("/").content.decode()
    assert str(run.pk) in client.get("/runs/?status=awaiting_person").content.decode()
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "its contract leaves the rest to a person" in page
    assert f'href="/runs/{run.pk}/resolve/"' in page
    form = client.get(f"/runs/{run.pk}/resolve/").content.decode()
    assert "becomes failed with its own error" in form
    answer = {"verdict": "done", "result": '{"a": 1}', "reason": "did it by hand"}
    client.post(f"/runs/{run.pk}/resolve/", answer)
    assert (now_of(run).status, now_of(run).result) == (Status.COMPLETED, {"a": 1})


def test_who_may_resolve_hears_of_it_and_a_group_when_nobody_acts(
    fail: Fail, admin: User, persona: Persona, settings: Any, mailoutbox: Any
) -> None:
    settings.MAIL_FROM = "hub@example.org"
    User.objects.filter(pk=admin.pk).update(email="admin@example.org")
    chief = User.objects.create_user("chief", email="chief@example.org")
    duty = Group.objects.create(name="duty")
    chief.groups.add(duty)
    # For who is not in the persona's team it does not exist; who was given the right on both hears of it.
    ops = User.objects.create_user("ops", email="ops@example.org")
    ops.groups.add(Group.objects.get(name="operator"), duty)
    kim = User.objects.create_user("kim", email="kim@example.org")
    team_set(by=admin, thing=persona, team=Group.objects.create(name="owners"))
    for thing in (persona, Tool.objects.get(name="fx_boom")):
        right_give(by=admin, thing=thing, to=kim, level=EXECUTE)
    run = fail({**MANUAL, "escalation": {"after": "10m", "to": "duty"}}, "fx_boom")

    def sent() -> list[list[str]]:
        while delivery := delivery_claim():
            delivery_try(delivery)
        return [mail.to + mail.bcc for mail in mailoutbox]

    assert sent() == [["admin@example.org", "kim@example.org"]]
    assert f"/runs/{run.pk}/resolve/" in mailoutbox[0].body
    assert escalations_send() == 0
    Recovery.objects.update(escalates_at=Now() - timedelta(seconds=1))
    assert (escalations_send(), escalations_send()) == (1, 0)
    # Neither who may resolve nothing nor who does not reach the persona hears of it, though both are on duty.
    assert sent()[1:] == [["admin@example.org", "kim@example.org"]]
    kim.groups.add(duty)
    with transaction.atomic():
        Delivery.objects.filter(kind=ESCALATION).delete()
        escalation_notify(run)
    assert sent()[2:] == [["kim@example.org"]]
    assert run.events.latest("seq").data == {"to": "duty"}
    assert Event.objects.filter(kind="run.escalated", run_id=run.pk).count() == 1
