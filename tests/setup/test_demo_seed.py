"""`make seed`: the demo world, made by the services, once."""

from collections import Counter
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from audit.models import Event
from execution.engine.submit import run_submit
from execution.models import Run
from registry.models import Assignment
from security.models import Grant, Persona, Token
from toolhub.management.commands import demo_seed

pytestmark = [pytest.mark.setup, pytest.mark.django_db, pytest.mark.usefixtures("own_mask")]


def seed() -> str:
    said = StringIO()
    call_command("demo_seed", stdout=said)
    return said.getvalue()


def counts() -> dict[str, int]:
    return {
        model.__name__: model.objects.count() for model in (Persona, Assignment, Grant, Token, Run, Event)
    }


def test_the_world_shows_every_kind_of_persona_grant_run_and_refusal() -> None:
    said = seed()
    assert "thp_" not in said
    assert Token.objects.count() == 7  # six of the world, one of the persona `demo`
    world = Persona.objects.exclude(name="demo")
    assert world.count() == 6
    assert list(world.filter(is_active=False).values_list("name", flat=True)) == ["old-crawler"]
    runs = Run.objects.filter(persona__in=world)
    assert runs.count() == 307
    assert set(runs.values_list("status", flat=True)) == {"completed", "failed"}
    assert set(runs.values_list("tool", flat=True)) == {
        "echo",
        "hash",
        "calculate",
        "current_time",
        "json_parse",
    }
    codes = {run.error["code"] for run in runs.filter(status="failed")}
    assert codes >= {"DIVISION_BY_ZERO", "INVALID_JSON", "UNKNOWN_TIMEZONE", "ONE_INPUT_NEEDED"}
    assert runs.filter(inline=False).count() == 32
    kinds = Counter(Event.objects.values_list("kind", flat=True))
    assert (kinds["run.accepted"], kinds["run.outcome"]) == (307, 307)
    refused = "".join(Event.objects.filter(kind="run.refused").values_list("canonical", flat=True))
    for code in ("TOOL_NOT_FOUND", "INVALID_ARGUMENTS", "PERMISSION_DENIED"):
        assert f'"code":"{code}"' in refused
    assert not Grant.objects.filter(reason="").exists()
    soon = Grant.objects.filter(expires_at__lt=timezone.now() + timedelta(days=3))
    assert list(soon.values_list("capability", flat=True)) == ["database:reports"]


def test_a_second_call_says_so_and_changes_nothing() -> None:
    assert "307 of 307 runs" in seed()
    before = counts()
    said = seed()
    assert said.startswith("The demo world is there already: support-agent, ")
    assert counts() == before


def test_a_call_after_an_interruption_makes_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Run] = []

    def submit(**call: Any) -> Run:
        if len(made) == 100:
            raise KeyboardInterrupt
        made.append(run_submit(**call))
        return made[-1]

    with monkeypatch.context() as patch:
        patch.setattr(demo_seed, "run_submit", submit)
        with pytest.raises(KeyboardInterrupt):
            seed()
    assert Run.objects.count() == 100
    assert "307 of 307 runs" in seed()
