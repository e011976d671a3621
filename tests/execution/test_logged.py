"""What a tool logs by `ctx.log` is told as events of its run: with a level, without secrets, bounded."""

import threading
import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from execution.engine.call import Call
from execution.engine.expiry import payloads_expire
from execution.engine.perform import queue_work
from execution.models import Run, RunEvent
from execution.runners import logged
from execution.runners.logged import BEGIN_MOST, END_MOST, FIELD_MOST, FIELDS_MOST, MESSAGE_MOST, Logged
from execution.runners.perform import call_run
from registry.config.services import config_change
from registry.models import Package, ToolVersion
from registry.services import assignment_create
from security.models import Persona, User
from security.redaction import MARK, Redactor
from security.sandbox.levels import Level
from tests.sandbox.packages import publish
from tests.sandbox.test_secrets import manifest
from toolhub_sdk.context import CLIP

KEY = "s3cr3t-of-the-log"
TALKS = '''
import time
from toolhub_sdk import ToolContext, tool

@tool(name="talks")
def talks(ctx: ToolContext, waits: float = 0.0) -> str:
    """Says what it does."""
    ctx.log("begins", level="debug", size=3)
    time.sleep(waits)
    ctx.log("half \\ud800 a sign", level="warning")
    return "done"
'''


def call_of(version: ToolVersion, heard: list[Mapping[str, Any]] | None = None, **members: Any) -> Call:
    if heard is not None:
        members["tell"] = lambda kind, data: heard.append(data)
    given: dict[str, Any] = {
        "run_id": uuid.uuid4(),
        "tool": version.tool.name,
        "runner": version.runner,
        "version": version,
        "arguments": {},
        "request": {},
        "attempt": 1,
        "timeout_ms": 30_000,
        "max_output_bytes": 10_000,
        "inline": False,
        "cancelled": threading.Event(),
    }
    return Call(**given | members)


@pytest.fixture
def version(fx: Package) -> ToolVersion:
    return ToolVersion.objects.select_related("tool").get(tool__name="fx_echo")


def entries(told: Any) -> list[dict[str, Any]]:
    """Without their times."""
    data = [each[1] if isinstance(each, tuple) else each for each in told]
    return [{**one, "at": ""} for each in data for one in each["entries"]]


def said(message: str, level: str = "info", **fields: str) -> dict[str, Any]:
    return {"at": "", "level": level, "message": message, "fields": fields}


@pytest.mark.django_db
def test_what_a_tool_says_in_any_form_is_kept_as_text(version: ToolVersion) -> None:
    one = Logged(call_of(version))
    one.add({"a": 1}, ["no fields"], "shout")
    one.add("half \ud800", {"n": 1, "b": b"x"}, "error")
    assert entries(one.rest()) == [said("{'a': 1}"), said("half ?", "error", n="1", b="b'x'")]


@pytest.mark.django_db
def test_texts_are_cut_after_secrets_are_taken_out(version: ToolVersion) -> None:
    one = Logged(call_of(version, redactor=Redactor([KEY])))
    one.add(
        "x" * (MESSAGE_MOST - 4) + KEY, {f"f{n}": "y" * (FIELD_MOST - 4) + KEY for n in range(50)}, "info"
    )
    # What came cut from the tool's side ends with half of a secret.
    half = (KEY * CLIP)[: CLIP - 9]
    one.add("cut", {"field": half + "z" * 4 + KEY[:5]}, "info")
    told = one.rest()
    assert KEY[:5] not in str(told)
    first, second = entries(told)
    assert first["message"] == "x" * (MESSAGE_MOST - 4) + MARK[:4] + "…"
    assert len(first["fields"]) == FIELDS_MOST
    assert set(second["fields"]["field"]) <= set(MARK + "…")


@pytest.mark.django_db
def test_of_a_flood_the_beginning_and_the_end_are_told_and_the_rest_is_counted(version: ToolVersion) -> None:
    one = Logged(call_of(version))
    for number in range(5000):
        one.add(f"entry {number}", {}, "info")
    told = [data for _, data in one.rest()]
    kept = entries(told)
    assert [kept[0]["message"], kept[-1]["message"]] == ["entry 0", "entry 4999"]
    assert told[1]["left_out"] == 5000 - len(kept)
    assert "left_out" not in told[0]
    assert len(str(told)) < 3 * (BEGIN_MOST + END_MOST)
    one.add("too late", {}, "info")
    assert "too late" not in str(one.rest())


@pytest.mark.django_db
def test_entries_are_told_while_the_tool_works(version: ToolVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logged, "EVERY_S", 0.0)
    heard: list[Mapping[str, Any]] = []
    one = Logged(call_of(version, heard))
    one.add("first", {}, "info")
    one.look()
    assert entries(heard) == [said("first")]
    assert one.rest() == []


@pytest.mark.django_db
def test_where_nobody_hears_the_outcome_tells(version: ToolVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logged, "EVERY_S", 0.0)
    one = Logged(call_of(version))
    one.add("first", {}, "info")
    one.look()
    assert entries(one.rest()) == [said("first")]


@pytest.mark.sandbox
@pytest.mark.parametrize("level", list(Level))
def test_a_tool_in_the_sandbox_logs_at_every_level(
    db: None, settings: Any, monkeypatch: pytest.MonkeyPatch, level: Level
) -> None:
    settings.SANDBOX_PROCESS = True
    release = publish(_manifest(), {"talks.py": TALKS.encode()})
    release.is_reviewed = True
    monkeypatch.setattr("execution.runners.sandboxed.level_choose", lambda *args, **kwargs: level)
    version = ToolVersion.objects.select_related("tool__package", "release").get(release=release)
    heard: list[Mapping[str, Any]] = []
    call = call_of(version, heard, arguments={"waits": 1.5})
    began = time.monotonic()
    done = call_run(call)
    assert done.data == "done", done.error
    assert done.sandbox is not None
    assert done.sandbox["level"] == level
    assert entries(heard) == [said("begins", "debug", size="3")], "it is told before the tool ends"
    assert time.monotonic() - began > 1.5
    assert entries(data for kind, data in done.told if kind == "TOOL_CALL_LOGGED") == [
        said("half ? a sign", "warning")
    ]


@pytest.mark.sandbox
@pytest.mark.django_db(transaction=True)
def test_the_log_stands_in_the_run_and_on_its_page_and_goes_with_the_payload(
    admin: User, persona: Persona, call: Any, client: Client
) -> None:
    release = publish(_manifest(), {"talks.py": TALKS.encode()})
    assignment_create(by=admin, persona=persona, package=release.package)
    assert call("talks", {}, HTTP_PREFER="respond-async").status_code == 202
    queue_work("sandbox")
    run = Run.objects.get()
    assert run.status == "completed", run.error
    event = RunEvent.objects.get(run=run, kind="TOOL_CALL_LOGGED")
    assert entries([event.data]) == [said("begins", "debug", size="3"), said("half ? a sign", "warning")]
    client.force_login(admin)
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "half ? a sign" in page
    assert "size=3" in page
    assert "warning" in page
    payloads_expire(datetime.now(UTC) + timedelta(days=1))
    event.refresh_from_db()
    assert event.data == {"expired": True}


@pytest.mark.django_db(transaction=True)
def test_a_built_in_tool_logs_too(keeper: Package, admin: User, call: Any) -> None:
    config_change(by=admin, package=keeper, changes={"unit": "C", "api_key": KEY})
    answer = call("fx_leak", {"way": "log"}).json()
    assert answer["data"] == "logged", answer
    event = RunEvent.objects.get(kind="TOOL_CALL_LOGGED")
    assert entries([event.data]) == [said(f"the key is {MARK}", key=MARK)]


def _manifest() -> dict[str, Any]:
    made = manifest("talks", {"type": "python", "entry": "talks"}, "talks", "talks")
    made.pop("config", None)
    return made
