"""Cancelling all runs that match a filter: one outcome for each, in bounded batches, within the caller's rights."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Event
from core.clock import uuid7
from execution.engine.perform import queue_work
from execution.engine.selectors import first_id_at
from execution.models import Attempt, Run, Status
from execution.runs import bulk_cancel, openapi_bulk
from execution.runs.bulk_cancel import BATCH, STOPPABLE
from security.models import Persona, User
from security.services import grant_create
from tests.execution.fixtures import MakeRun

pytestmark = pytest.mark.django_db
Post = Callable[[Any], Any]


@pytest.fixture
def cancel(client: Client, token_text: str) -> Post:
    def do(body: Any) -> Any:
        raw = orjson.dumps(body)
        headers = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
        return client.generic("POST", "/api/v1/runs/cancel", raw, "application/json", **headers)

    return do


def left() -> set[str]:
    """The sessions of runs that nobody asked to stop."""
    return set(Run.objects.filter(cancel_asked_at=None).values_list("session", flat=True))


def old() -> Any:
    """The id of a run that was accepted three hours ago."""
    return first_id_at(timezone.now() - timedelta(hours=3))


FILTERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "tool": ({"tool": "fx_slow"}, {"tool": "fx_slow"}),
    "session": ({"session": "s"}, {"session": "s"}),
    "status": ({"status": "pending"}, {"status": Status.PENDING}),
    "since": ({"since": 2}, {}),
    "persona": ({"persona": "researcher"}, {}),
}


@pytest.mark.parametrize("name", FILTERS)
def test_each_filter_cancels_what_matches_and_nothing_else(
    cancel: Post, make_run: MakeRun, admin: User, name: str
) -> None:
    """Of four kinds of runs each filter matches one or more; another persona's are never touched."""
    assert set(FILTERS) == set(openapi_bulk.BODY["properties"])
    other = Persona.objects.create(name="other")
    rows = {
        "tool": make_run("fx_slow", Status.WAITING_RETRY, pk=old(), session="tool"),
        "session": make_run(status=Status.WAITING_RETRY, session="s"),
        "status": make_run(session="status"),
        "since": make_run(status=Status.WAITING_RETRY, session="since"),
        "persona": make_run(status=Status.WAITING_RETRY, session="persona"),
    }
    theirs = [make_run(persona=other, session="s"), make_run("fx_slow", persona=other, session="theirs")]
    new = {row.session for key, row in rows.items() if key != "tool"}
    gone = {"since": new, "persona": {row.session for row in rows.values()}}.get(name, {rows[name].session})
    answer = cancel(FILTERS[name][0])
    assert (answer.status_code, answer.json()) == (200, {"cancelled": len(gone), "failed": 0, "more": False})
    assert left() == ({row.session for row in rows.values()} - gone) | {row.session for row in theirs}


@pytest.mark.parametrize("status", list(Status))
def test_every_status_is_stopped_or_left(cancel: Post, make_run: MakeRun, status: Status) -> None:
    run = make_run(status=status, **({"attempt": 1} if status is Status.RUNNING else {}))
    stops = status in STOPPABLE
    assert cancel({"status": "open"}).json() == {"cancelled": int(stops), "failed": 0, "more": False}
    run.refresh_from_db()
    if status is Status.RUNNING:
        assert (run.status, run.cancel_asked_at is not None) == (status, True)
    else:
        assert run.status == (Status.CANCELLED if stops else status)


def test_each_run_has_one_outcome_and_the_ledger_names_the_filter(cancel: Post, make_run: MakeRun) -> None:
    for _ in range(3):
        make_run()
    assert cancel({"status": "waiting", "tool": "fx_echo"}).json() == {
        "cancelled": 3,
        "failed": 0,
        "more": False,
    }
    kinds = list(Event.objects.order_by("id").values_list("kind", flat=True))
    assert [kinds.count(kind) for kind in ("run.cancel_asked", "run.outcome", "runs.cancel_asked")] == [
        3,
        3,
        1,
    ]
    told = Event.objects.get(kind="runs.cancel_asked")
    assert '"filters":{"status":"waiting","tool":"fx_echo"}' in told.canonical
    assert '"asked":3' in told.canonical
    assert cancel({"status": "waiting", "tool": "fx_echo"}).json() == {
        "cancelled": 0,
        "failed": 0,
        "more": False,
    }
    assert queue_work("default") == 0


def test_a_run_that_cannot_be_cancelled_keeps_no_other_from_it(
    cancel: Post, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where its row does not fit together: an attempt is missing."""
    first, *_ = [make_run(pk=uuid7()) for _ in range(3)]
    act = bulk_cancel.run_cancel

    def broken(*, by: Any, run: Run) -> bool:
        if run.pk == first.pk:
            raise Attempt.DoesNotExist
        return act(by=by, run=run)

    monkeypatch.setattr(bulk_cancel, "run_cancel", broken)
    assert cancel({"status": "open"}).json() == {"cancelled": 2, "failed": 1, "more": False}
    assert '"failed":1' in Event.objects.get(kind="runs.cancel_asked").canonical


def test_a_request_cancels_a_bounded_batch_the_oldest_first(
    cancel: Post, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert BATCH == 500
    monkeypatch.setattr(bulk_cancel.runs_cancel, "__kwdefaults__", {"most": 2})
    for number in range(5):
        make_run(session=str(number), pk=uuid7())
    assert cancel({"status": "open"}).json() == {"cancelled": 2, "failed": 0, "more": True}
    assert left() == {"2", "3", "4"}
    assert cancel({"status": "open"}).json() == {"cancelled": 2, "failed": 0, "more": True}
    assert cancel({"status": "open"}).json() == {"cancelled": 1, "failed": 0, "more": False}


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({}, "INVALID_REQUEST", ""),
        ([], "INVALID_REQUEST", ""),
        ({"status": "completed"}, "INVALID_REQUEST", "/status"),
        ({"status": "foo"}, "INVALID_REQUEST", "/status"),
        ({"since": 0}, "INVALID_REQUEST", "/since"),
        ({"since": "foo"}, "INVALID_REQUEST", "/since"),
        ({"tool": ""}, "INVALID_REQUEST", "/tool"),
        ({"foo": 1, "status": "open"}, "UNKNOWN_MEMBER", "/foo"),
    ],
)
def test_a_filter_that_nobody_knows_cancels_nothing(
    cancel: Post, make_run: MakeRun, body: Any, code: str, pointer: str
) -> None:
    make_run()
    answer = cancel(body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert Run.objects.get().cancel_asked_at is None


def test_another_persona_s_runs_take_the_capability_and_a_person_who_may(
    cancel: Post, make_run: MakeRun, admin: User, persona: Persona
) -> None:
    other = Persona.objects.create(name="other")
    make_run(persona=other)
    for name in ("other", "nobody"):
        refused = cancel({"persona": name})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "CAPABILITY_MISSING")
    grant_create(by=admin, persona=persona, capability="toolhub:runs", reason="test")
    assert cancel({"persona": "nobody"}).json() == {"cancelled": 0, "failed": 0, "more": False}
    assert cancel({"persona": "other"}).json() == {"cancelled": 1, "failed": 0, "more": False}
    admin.is_superuser = False
    admin.save()
    assert cancel({"persona": "other"}).status_code == 403
