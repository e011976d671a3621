"""Refusals in the ledger: the first at once, the rest as a count, so that nobody can fill the disk."""

import json
from typing import Any

import pytest
from django.db.models import F

from audit.denials import WINDOW_S, denial_record, denials_flush
from audit.ledger import Entry
from audit.models import Denial, Event
from core.actors import Actor
from execution.event_kinds import RUN_REFUSED

pytestmark = pytest.mark.django_db


def refuse(persona: str = "scout", tool: str = "echo", code: str = "TOOL_NOT_FOUND") -> None:
    entry = Entry(RUN_REFUSED, Actor("persona", "1", persona), "tool", tool, {"code": code})
    denial_record(entry, persona=persona, tool=tool, code=code)


@pytest.fixture(autouse=True)
def one_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """The minute does not turn in the midst of a test."""
    monkeypatch.setattr("audit.denials.time.time", lambda: 1_800_000_000.0)


def age() -> None:
    Denial.objects.update(window=F("window") - 1)


def kinds() -> list[str]:
    return list(Event.objects.order_by("id").values_list("kind", flat=True))


def test_the_first_refusal_is_an_event_and_the_rest_are_counted() -> None:
    for _ in range(4):
        refuse()
    assert kinds() == ["run.refused"]
    assert Denial.objects.get().count == 3


def test_another_persona_tool_or_code_is_another_first() -> None:
    refuse()
    refuse(persona="other")
    refuse(tool="hash")
    refuse(code="CAPABILITY_MISSING")
    assert kinds() == ["run.refused"] * 4


def test_the_counts_of_past_windows_become_one_event_each() -> None:
    for _ in range(4):
        refuse()
    age()
    assert denials_flush() == 1
    assert kinds() == ["run.refused", "run.refused.repeated"]
    body: dict[str, Any] = json.loads(Event.objects.latest("id").canonical)
    start = 1_800_000_000 // WINDOW_S * WINDOW_S - WINDOW_S
    assert body["data"] == {"persona": "scout", "code": "TOOL_NOT_FOUND", "count": 3, "window_start": start}
    assert body["subject"] == {"kind": "tool", "id": "echo"}
    assert not Denial.objects.exists()
    assert denials_flush() == 0


def test_a_refusal_that_was_not_repeated_leaves_no_count() -> None:
    refuse()
    age()
    assert denials_flush() == 0
    assert kinds() == ["run.refused"]
    assert not Denial.objects.exists()


def test_the_window_of_now_is_not_flushed() -> None:
    refuse()
    refuse()
    assert denials_flush() == 0
    assert Denial.objects.get().count == 1


def test_the_next_window_begins_with_an_event_again() -> None:
    refuse()
    age()
    refuse()
    assert kinds() == ["run.refused", "run.refused"]
