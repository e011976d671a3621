"""A person has undone what a lost run may have done: the rollbacks of its effects are called, all or none."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db.models.functions import Now
from django.test import Client

from audit.models import Event
from core.errors import InvalidRequest, ToolHubError
from execution.engine.invariants import invariants_check
from execution.engine.lease import Lease
from execution.engine.perform import queue_work
from execution.models import Run, Status
from execution.runs.resolve import run_resolve
from execution.runs.verdicts import Verdict
from registry.models import Package
from security.models import Persona, User
from security.policy.limits import limit_create
from security.services import grant_create, persona_create, token_create
from tests.execution.effects.conftest import memory, notice, remembered, state
from tests.execution.fixtures import Declare, reap

pytestmark = pytest.mark.django_db
Leased = Callable[..., Lease]
Lose = Callable[..., Run]


def undo(tool: str, **arguments: str) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


EFFECTS = (
    state("file", value="written", rollback=undo("fx_wrap", value="arguments.file")),
    notice("file:changed"),
    memory("count", value=1, rollback=undo("fx_echo", value="[current, result]")),
    memory("error", value=1, on="failure", rollback=undo("fx_echo", value="'never'")),
)


@pytest.fixture
def lose(leased: Leased, declare: Declare, tmp_path: Path) -> Lose:
    """An attempt of an impure tool with these effects whose worker died in its midst, reaped."""

    def do(*effects: dict[str, Any]) -> Run:
        declare("fx_count", effects=list(effects))
        lease = leased("fx_count")
        Run.objects.filter(pk=lease.run.pk).update(arguments={"file": "/tmp/a"})
        assert reap() == 1
        return now_of(lease.run)

    return do


def now_of(run: Run) -> Run:
    return Run.objects.select_related("tool_version", "persona").get(pk=run.pk)


def children(run: Run) -> list[Run]:
    return list(run.children.order_by("pk"))


def compensate(by: User, run: Run, **more: Any) -> Run:
    assert run_resolve(by=by, run=run, verdict=Verdict.COMPENSATE, reason="half of it", **more) is None
    return now_of(run)


def test_the_rollbacks_are_called_in_reverse_and_the_run_has_one_outcome(admin: User, lose: Lose) -> None:
    run = compensate(admin, lose(*EFFECTS), result={"attempt": 7})
    assert (run.status, run.result) == (Status.FAILED, None)
    assert (run.error or {})["code"] == "COMPENSATED"
    last, first = children(run)
    assert (last.tool, last.arguments) == ("fx_echo", {"value": [None, {"attempt": 7}]})
    assert (first.tool, first.arguments) == ("fx_wrap", {"value": "/tmp/a"})
    assert {(one.persona_id, one.token_id, one.responsible_id) for one in (last, first)} == {
        (run.persona_id, None, admin.pk)
    }
    calls = (run.error or {})["details"]["compensations"]
    assert [(one["effect"], one["tool"], one["run"]) for one in calls] == [
        (3, "fx_echo", str(last.pk)),
        (1, "fx_wrap", str(first.pk)),
    ]
    assert [event.kind for event in run.events.order_by("seq")][-4:] == [
        "EFFECT_COMPENSATED",
        "EFFECT_COMPENSATED",
        "RUN_RESOLVED",
        "TOOL_CALL_FAILED",
    ]
    event = Event.objects.get(kind="run.resolved")
    assert '"as":"compensate"' in event.canonical
    assert str(first.pk) in event.canonical
    assert remembered() == {}
    Run.objects.filter(status=Status.PENDING).update(due_at=Now() - timedelta(seconds=1))
    assert queue_work("default") == 2
    assert {one.status for one in children(run)} == {Status.COMPLETED}
    assert "run.outcome" in set(Event.objects.filter(run_id=run.pk).values_list("kind", flat=True))
    assert invariants_check().outcome_twice == 0


IMPOSSIBLE = [
    ((notice("done"),), "names a tool that undoes it", None),
    ((state("a", value=1, rollback=undo("fx_echo", value="result.id")),), "cannot be called", None),
    ((state("a", value=1, rollback=undo("nothing")),), "No tool", "TOOL_NOT_FOUND"),
    (
        (EFFECTS[0], state("a", value=1, rollback=undo("fx_wrap", wrong="1"))),
        "do not fit",
        "INVALID_ARGUMENTS",
    ),
]


@pytest.mark.parametrize(("effects", "said", "refused"), IMPOSSIBLE)
def test_where_one_may_not_be_called_none_is_and_the_run_stays(
    admin: User, lose: Lose, effects: Any, said: str, refused: str | None
) -> None:
    run = lose(*effects)
    with pytest.raises(ToolHubError, match=said) as refusal:
        compensate(admin, run)
    assert refusal.value.code == (refused or "CONFLICT")
    assert (now_of(run).status, Run.objects.count()) == (Status.OUTCOME_UNKNOWN, 1)
    assert Event.objects.filter(kind="run.resolved").count() == 0
    assert Event.objects.filter(kind="run.refused").count() == bool(refused)


def test_a_limit_that_is_reached_in_the_midst_takes_all_of_it_back(
    admin: User, persona: Persona, fx: Package, lose: Lose
) -> None:
    two = state("a", value=1, rollback=undo("fx_echo", value="1")), EFFECTS[2]
    run = lose(*two)
    limit_create(by=admin, kind="quota", measure="calls", amount=1, window_s=3600, persona=persona)
    with pytest.raises(ToolHubError) as refusal:
        compensate(admin, run)
    assert refusal.value.code == "QUOTA_EXCEEDED"
    assert (now_of(run).status, Run.objects.count()) == (Status.OUTCOME_UNKNOWN, 1)
    assert Event.objects.filter(kind="run.refused").count() == 1


def test_a_result_goes_with_verdicts_that_can_use_it(admin: User, lose: Lose) -> None:
    run = lose(*EFFECTS)
    for verdict, result in ((Verdict.NOT_DONE, {"attempt": 1}), (Verdict.COMPENSATE, {"attempt": "one"})):
        with pytest.raises(InvalidRequest) as refusal:
            run_resolve(by=admin, run=run, verdict=verdict, reason="looked", result=result)
        assert refusal.value.errors[0]["pointer"] == "/result"
    assert now_of(run).status == Status.OUTCOME_UNKNOWN


@pytest.fixture
def bot(admin: User, client: Client) -> Callable[..., Any]:
    """An agent of bo, who may resolve runs: `bot("get", "unresolved")`, `bot("post", "ID/resolve", {…})`."""
    bo = User.objects.create_user("bo")
    for name in ("resolve_run", "add_token"):
        bo.user_permissions.add(Permission.objects.get(codename=name))
    persona = persona_create(by=admin, name="bot")
    grant_create(by=admin, persona=persona, capability="toolhub:runs", reason="tells decisions")
    _, text = token_create(by=bo, persona=persona, name="chat")

    def ask(method: str, path: str, body: Any = None) -> Any:
        more = {} if body is None else {"data": body, "content_type": "application/json"}
        return getattr(client, method)(f"/api/v1/runs/{path}", HTTP_AUTHORIZATION=f"Bearer {text}", **more)

    return ask


def test_an_agent_tells_what_its_person_says(bot: Callable[..., Any], lose: Lose) -> None:
    run = lose(*EFFECTS)
    (waiting,) = bot("get", "unresolved").json()["runs"]
    assert (waiting["run_id"], waiting["undone_by"]) == (str(run.pk), ["fx_echo", "fx_wrap"])
    assert waiting["arguments"] == {"file": "/tmp/a"}
    assert bot("post", f"{run.pk}/resolve", {"as": "compensate"}).status_code == 422
    answer = bot("post", f"{run.pk}/resolve", {"as": "compensate", "reason": "half"})
    assert (answer.status_code, answer.json()["new_run_id"]) == (200, None)
    assert answer.json()["run"]["error"]["code"] == "COMPENSATED"
    event = Event.objects.get(kind="run.resolved")
    assert event.actor_name == "bot"
    assert {one.responsible.get_username() for one in children(run) if one.responsible} == {"bo"}
    assert bot("get", "unresolved").json() == {"runs": [], "next": None}
    again = bot("post", f"{run.pk}/resolve", {"as": "done", "reason": "half"})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "ALREADY_FINISHED")


def test_a_persona_does_not_resolve_its_own_runs(
    admin: User, persona: Persona, lose: Lose, post: Callable[..., Any]
) -> None:
    run, body = lose(*EFFECTS), {"as": "done", "reason": "I say so"}
    assert post(run.pk, "resolve", body).json()["error"]["code"] == "CAPABILITY_MISSING"
    grant_create(by=admin, persona=persona, capability="toolhub:runs", reason="to see")
    assert post(run.pk, "resolve", body).json()["error"]["code"] == "PERMISSION_DENIED"
    assert now_of(run).status == Status.OUTCOME_UNKNOWN


def test_the_page_says_what_is_called_and_offers_it_only_then(
    admin: User, client: Client, lose: Lose
) -> None:
    client.force_login(admin)
    run = lose(*EFFECTS)
    body = client.get(f"/runs/{run.pk}/resolve/").content.decode()
    assert "fx_echo (write count); fx_wrap (set file)" in body
    form = {"verdict": "compensate", "result": "", "reason": "half"}
    assert client.post(f"/runs/{run.pk}/resolve/", form)["Location"] == f"/runs/{run.pk}/"
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "COMPENSATED" in page
    assert all(str(one.pk) in page for one in children(run))
    plain = client.get(f"/runs/{lose(notice('done')).pk}/resolve/").content.decode()
    assert 'value="anew"' in plain
    assert 'value="compensate"' not in plain
