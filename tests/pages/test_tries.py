"""Trying a tool on its page."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from execution.engine.perform import queue_work
from execution.models import Run, Status
from registry.models import ToolVersion
from security.models import Grant, Persona, User
from tests.contract.conftest import fx_contract, nothing_waits
from tests.pages.conftest import Eyes

__all__ = ["fx_contract", "nothing_waits"]

GOOD = {"persona": "researcher", "version": "", "arguments": '{"text": "hi"}', "act": "run"}


def said(event: Event) -> dict[str, Any]:
    """What an event says beside who, what and when."""
    data: dict[str, Any] = json.loads(event.canonical)["data"]
    return data


@pytest.fixture
def ready(persona: Persona, assign: Callable[[str], None]) -> Persona:
    assign("toolhub-data")
    return persona


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker runs here, so the page would wait in vain."""
    monkeypatch.setattr("execution.entry.tries.views.WAIT_S", 0.0)


def test_a_try_is_a_run_of_the_persona_for_which_the_person_answers(
    eyes: Client, ready: Persona, admin: User
) -> None:
    answer = eyes.post("/tools/echo/try/", GOOD)
    run = Run.objects.get()
    assert (run.persona, run.responsible, run.token) == (ready, admin, None)
    assert answer["Location"] == f"/tools/echo/try/?run={run.pk}"
    tried = Event.objects.get(kind="run.tried")
    assert (tried.actor_kind, tried.actor_id, tried.run_id) == ("person", str(admin.pk), run.pk)
    assert said(tried) == {"new_run": str(run.pk), "persona": "researcher"}
    assert said(Event.objects.get(kind="run.accepted"))["responsible"] == admin.get_username()


def test_the_page_of_a_try_has_its_arguments_and_follows_it(eyes: Client, ready: Persona) -> None:
    page = eyes.post("/tools/echo/try/", GOOD, follow=True).content.decode()
    run = Run.objects.get()
    assert run.status == Status.PENDING
    assert "&quot;text&quot;: &quot;hi&quot;" in page
    assert re.search(rf'data-live\s+hx-get="/tools/echo/try/\?run={run.pk}"', page)


def test_what_does_not_fit_is_told_by_pointer_and_makes_no_run(eyes: Client, ready: Persona) -> None:
    answer = eyes.post("/tools/echo/try/", {**GOOD, "arguments": '{"text": 1}'})
    assert answer.status_code == 422
    assert 'data-pointer="/arguments/text"' in answer.content.decode()
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"persona": "nobody"}, "There is no persona"),
        ({"arguments": "{"}, "This is no JSON"),
        ({"arguments": "[]"}, "This must be a JSON object."),
        ({"arguments": ""}, "This field is required."),
        ({"arguments": '{"text": "a", "text": "b"}'}, "This is no JSON"),
        ({"version": "9.9.9"}, "echo has no version 9.9.9."),
        ({"context_data": "[]"}, "This must be a JSON object."),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_and_makes_no_run(
    eyes: Client, ready: Persona, changes: dict[str, str], words: str
) -> None:
    answer = eyes.post("/tools/echo/try/", {**GOOD, **changes})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Run.objects.exists()


def test_a_persona_without_the_right_is_refused_and_the_refusal_is_on_record(
    eyes: Client, ready: Persona, admin: User
) -> None:
    answer = eyes.post("/tools/calculate/try/", {**GOOD, "arguments": "{}"})
    assert answer.status_code == 422
    assert "TOOL_NOT_FOUND" in answer.content.decode()
    assert '<a href="/tools/calculate/callers/">one that can call it</a>' in answer.content.decode()
    refused = Event.objects.get(kind="run.refused")
    assert refused.actor_name == "researcher"
    assert said(refused)["responsible"] == admin.get_username()
    assert not Grant.objects.exists()


def test_what_a_run_needs_is_not_called_optional_and_the_call_stays_as_it_was_written(
    eyes: Client, ready: Persona
) -> None:
    page = eyes.get("/tools/echo/try/").content.decode()
    assert re.search(r'for="id_persona">\s*As persona\s*</label>', page)
    answer = eyes.post("/tools/echo/try/", {**GOOD, "persona": "", "arguments": '{"text": "kept"}'})
    assert answer.status_code == 422
    assert 'data-pointer="/persona"' in answer.content.decode()
    assert "kept" in answer.context["snippets"][0].text


def test_showing_the_call_runs_nothing(
    eyes: Client, ready: Persona, nothing_recorded: Callable[[], None]
) -> None:
    answer = eyes.post("/tools/echo/try/", {**GOOD, "act": "show", "persona": ""})
    assert answer.status_code == 200
    page = answer.content.decode()
    for form in ("curl -sS", "import httpx", "tools/call"):
        assert form in page
    assert not Run.objects.exists()
    nothing_recorded()


def test_who_may_not_run_finds_no_page_and_no_link(eyes_with: Eyes, ready: Persona) -> None:
    looking = eyes_with("registry.view_tool", "execution.view_run")
    assert "/tools/echo/try/" not in looking.get("/tools/echo/").content.decode()
    assert looking.get("/tools/echo/try/").status_code == 404
    assert looking.post("/tools/echo/try/", GOOD).status_code == 404
    assert eyes_with("execution.add_run").post("/tools/echo/try/", GOOD).status_code == 404
    assert not Run.objects.exists()


def test_runs_of_others_are_not_shown_without_the_right_to_see_runs(
    eyes: Client, eyes_with: Eyes, ready: Persona
) -> None:
    eyes.post("/tools/echo/try/", GOOD)
    trying = eyes_with("execution.add_run", "registry.view_tool")
    assert trying.get(f"/tools/echo/try/?run={Run.objects.get().pk}").status_code == 404
    own = trying.post("/tools/echo/try/", GOOD)
    assert trying.get(own["Location"]).status_code == 200


def test_another_tools_run_is_not_shown(eyes: Client, ready: Persona) -> None:
    eyes.post("/tools/echo/try/", GOOD)
    assert eyes.get(f"/tools/hash/try/?run={Run.objects.get().pk}").status_code == 404


def test_a_post_from_elsewhere_is_refused(admin: User, ready: Persona) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(admin)
    assert strict.post("/tools/echo/try/", GOOD).status_code == 403
    assert not Run.objects.exists()


def test_the_picker_proposes_personas_that_see_the_tool(eyes: Client, ready: Persona) -> None:
    Persona.objects.create(name="stranger")
    options = eyes.get("/tools/echo/try/personas/?persona=").content.decode()
    assert 'value="researcher"' in options
    assert "stranger" not in options
    assert 'value="researcher"' in eyes.get("/tools/echo/try/").content.decode()


def test_the_schema_cannot_end_its_script(eyes: Client, published: None) -> None:
    version = ToolVersion.objects.get(tool__name="echo")
    definition = json.loads(json.dumps(version.definition))
    definition["inputSchema"]["description"] = "</script><script>alert(1)</script>"
    ToolVersion.objects.filter(pk=version.pk).update(definition=definition)
    assert "</script><script>alert" not in eyes.get("/tools/echo/try/").content.decode()


def test_the_context_of_a_try_is_the_calls(eyes: Client, ready: Persona) -> None:
    given = {**GOOD, "session_id": "s", "context_data": '{"db": "a"}'}
    page = eyes.post("/tools/echo/try/", given, follow=True).content.decode()
    run = Run.objects.get()
    assert run.request["context"] == {"session_id": "s"}
    assert run.request["context_data"] == {"db": "a"}
    assert 'value="s"' in page
    shown = eyes.post("/tools/echo/try/", {**given, "act": "show"}).content.decode()
    assert "&quot;context_data&quot;:{&quot;db&quot;:&quot;a&quot;}" in shown.replace("&#x27;", "'")


@pytest.mark.sandbox
def test_what_a_dynamic_tool_takes_is_asked_for_in_its_context(
    eyes: Client, fx_contract: None, persona: Persona, admin: User
) -> None:
    ask = {**GOOD, "arguments": "", "context_data": '{"db": "a"}', "act": "schema"}
    address = eyes.post("/tools/fx_dyn/try/", ask)["Location"]
    run = Run.objects.get()
    assert (run.request["hook"], run.responsible) == ("schema", admin)
    assert Event.objects.get(kind="run.tried").run_id == run.pk
    queue_work("sandbox")
    for page in (eyes.get(address), eyes.post("/tools/fx_dyn/try/", ask)):
        text = page.content.decode()
        assert "What it takes in this context" in text
        assert "one of orders, people" in text
        assert (schema_of(text)["required"], table(text)["enum"]) == (["table"], ["orders", "people"])
        assert table(text)["description"] == "A text.", "what the tool's own schema says stays"
    assert Run.objects.count() == 1, "the second time it is known"
    refused = eyes.post("/tools/fx_dyn/try/", {**ask, "arguments": '{"table": "parts"}', "act": "run"})
    assert 'data-pointer="/arguments/table"' in refused.content.decode()


def table(page: str) -> dict[str, Any]:
    """What the form's schema says of the argument."""
    found: dict[str, Any] = schema_of(page)["properties"]["table"]
    return found


def schema_of(page: str) -> dict[str, Any]:
    """The schema that the form is made of."""
    found = re.search(r'<script id="tool-schema" type="application/json">(.*?)</script>', page)
    assert found
    schema: dict[str, Any] = json.loads(found[1])
    return schema
