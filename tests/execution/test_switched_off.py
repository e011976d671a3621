"""A persona that is switched off, or whose person has left, gets nothing from the hub but the reason."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from execution.engine.events import event_add
from execution.engine.invariants import invariants_check
from execution.engine.perform import queue_work
from execution.models import Run, RunEvent
from execution.runners.perform import call_run
from registry.models import Package
from security.authentication import IsActive
from security.models import Grant, Persona, Token, User
from security.policy.models import Restriction
from security.services import grant_create, persona_create, persona_switch
from tests.execution.fixtures import MakeRun

Call = Callable[..., Any]
pytestmark = pytest.mark.django_db(transaction=True)
# How somebody ends what a persona's tokens open, past every service, too.
ENDS: dict[str, Callable[[User, Persona], object]] = {
    "switched off": lambda admin, persona: persona_switch(by=admin, persona=persona, on=False),
    "has left": lambda admin, persona: User.objects.update(is_active=False),
}
TRIES = [
    ("POST", "personas", {"name": "evil"}),
    ("PATCH", "personas/researcher", {"active": True}),
    ("POST", "personas/other/tokens", {"name": "t"}),
    ("POST", "personas/other/grants", {"capability": "file:read", "reason": "r"}),
    ("POST", "restrictions", {"capability": "file:*", "reason": "r"}),
    ("PUT", "memory/working/a", {"value": 1}),
    ("GET", "memory/working/a", None),
    ("GET", "sessions", None),
    ("GET", "packages", None),
    ("GET", "collections", None),
    ("GET", "approvals", None),
    ("POST", "webhooks", {"url": "https://example.org/", "events": ["*"]}),
]


@pytest.fixture
def ask(client: Client, token_text: str) -> Call:
    def do(method: str, path: str, body: Any = None, **headers: str) -> Any:
        data: dict[str, Any] = {"data": body, "content_type": "application/json"} if body is not None else {}
        send = getattr(client, method.lower())
        return send(f"/api/v1/{path}", HTTP_AUTHORIZATION=f"Bearer {token_text}", **headers, **data)

    return do


@pytest.mark.parametrize("way", ENDS)
def test_it_reads_nothing_and_changes_nothing(
    call: Call, ask: Call, fx: Package, admin: User, persona: Persona, way: str
) -> None:
    """Also what it may manage: else who has its token would go on by a token that it makes."""
    for name in ("toolhub", "file:read"):
        grant_create(by=admin, persona=persona, capability=name, reason="r")
    persona_create(by=admin, name="other")
    assert call("fx_echo", {"value": "a"}).status_code == 200
    run = Run.objects.get().pk
    own = [("GET", f"runs/{run}{at}", None) for at in ("", "/events", "/artefacts")]
    own += [("POST", f"runs/{run}/{at}", {}) for at in ("cancel", "retry", "replay", "cleanup", "redeliver")]
    assert ask("GET", f"runs/{run}").status_code == 200
    counted = (Persona, Grant, Token, Restriction, Run)
    before = [model._default_manager.count() for model in counted]
    ENDS[way](admin, persona)
    for method, path, body in (*own, *TRIES):
        answer = ask(method, path, body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "PERMISSION_DENIED"), path
        assert way in answer.json()["detail"], path
    assert [model._default_manager.count() for model in counted] == before
    assert Persona.objects.get(name="researcher").is_active == (way != "switched off")


def test_it_is_told_why(call: Call, ask: Call, fx: Package, admin: User, persona: Persona) -> None:
    persona_switch(by=admin, persona=persona, on=False)
    listed = ask("GET", "tools").json()
    assert (listed["tools"], "switched off" in listed["reason"]) == ([], True)
    checks = ask("GET", "tools/fx_echo").json()["decision"]["checks"]
    assert [one["name"] for one in checks if one["verdict"] == "fail"] == ["persona"]
    said = ask("POST", "decisions/simulate", {"persona": "researcher", "tool": "fx_echo"}).json()
    assert "switched off" in str(said)
    assert "switched off" in call("fx_echo", {"value": "a"}).json()["detail"]
    persona_switch(by=admin, persona=persona, on=True)
    assert call("fx_echo", {"value": "a"}).status_code == 200


def _views(patterns: list[Any], at: str = "") -> Iterator[tuple[str, Any]]:
    for one in patterns:
        if isinstance(one, URLResolver):
            yield from _views(one.url_patterns, at + str(one.pattern))
        elif isinstance(one, URLPattern) and (view := getattr(one.callback, "cls", None)):
            yield at + str(one.pattern), view


def test_every_view_of_the_api_asks_or_explains() -> None:
    found = [(path, view) for path, view in _views(get_resolver().url_patterns) if path.startswith("api/v1/")]
    assert len(found) > 50
    for path, view in found:
        assert IsActive in view.permission_classes, path
    assert {view.__name__ for _, view in found if getattr(view, "explains", False)} == {
        "ToolList",
        "ToolDetail",
        "Execute",
        "DecisionSimulate",
    }


END_WHILE_IT_WAITS: dict[str, tuple[Callable[[], object], int]] = {
    "the token is revoked": (lambda: Token.objects.update(revoked_at="2026-01-01T00:00:00Z"), 401),
    "the token is over": (lambda: Token.objects.update(expires_at="2026-01-01T00:00:00Z"), 401),
    "the persona is switched off": (lambda: Persona.objects.update(is_active=False), 403),
    "the person leaves": (lambda: User.objects.update(is_active=False), 403),
}


@pytest.mark.parametrize("at", ["?wait=20", "/events?wait=20&after=1"], ids=["the run", "its events"])
@pytest.mark.parametrize(("end", "status"), END_WHILE_IT_WAITS.values(), ids=END_WHILE_IT_WAITS)
def test_who_waits_for_news_of_a_run_hears_none_after_its_end(
    ask: Call,
    make_run: MakeRun,
    monkeypatch: pytest.MonkeyPatch,
    end: Callable[[], object],
    status: int,
    at: str,
) -> None:
    """Long polls are answered as the next request would be; a stream ends before it tells the event."""
    monkeypatch.setattr("execution.engine.waiters.LOOK_S", 0.2)
    run = make_run(tool="fx_echo")
    event_add(run.pk, "CANCEL_ASKED", {"by": "known words"})
    stream = iter(ask("GET", f"runs/{run.pk}/events", HTTP_ACCEPT="text/event-stream").streaming_content)
    assert b"known words" in next(stream)

    def later() -> None:
        time.sleep(0.3)
        end()
        event_add(run.pk, "CANCEL_ASKED", {"by": "secret words"})
        Run.objects.filter(pk=run.pk).update(status="cancelled")
        connection.close()

    changing = threading.Thread(target=later)
    changing.start()
    polled = ask("GET", f"runs/{run.pk}{at}")
    changing.join()
    assert polled.status_code == status
    assert b"secret words" not in polled.content + b"".join(stream)
    assert RunEvent.objects.filter(run_id=run.pk).count() == 2


@pytest.mark.parametrize(("end", "status"), END_WHILE_IT_WAITS.values(), ids=END_WHILE_IT_WAITS)
def test_an_attempt_that_works_has_its_outcome_and_what_waits_behind_it_does_not_begin(
    call: Call,
    ask: Call,
    fx: Package,
    monkeypatch: pytest.MonkeyPatch,
    end: Callable[[], object],
    status: int,
) -> None:
    """Broken off, its effects would be half done. What merely expired since it was accepted does not matter."""
    for value in ("first", "second"):
        assert call("fx_echo", {"value": value}, HTTP_PREFER="respond-async").status_code == 202
    worked: list[Any] = []

    def late(asked: Any) -> Any:
        end()
        worked.append(asked.arguments["value"])
        return call_run(asked)

    monkeypatch.setattr("execution.engine.features.LIFE.call_run", late)
    assert queue_work("default") == 2
    first, second = Run.objects.order_by("id")
    assert first.status == "completed"
    over = Token.objects.get().state == "expired"
    assert worked == (["first", "second"] if over else ["first"])
    assert (second.status, (second.error or {}).get("code")) == (
        ("completed", None) if over else ("failed", "PERMISSION_DENIED")
    )
    assert ask("GET", f"runs/{first.pk}").status_code == status
    assert invariants_check().faults == {}
