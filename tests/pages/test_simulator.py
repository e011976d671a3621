"""The simulator's page, who can call a tool, and where decisions are explained."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from execution.models import Run
from registry.models import ToolVersion
from security.models import Grant, Persona, User
from security.services import grant_create, persona_create

Assign = Callable[[str], None]


def test_a_question_stands_in_the_address(eyes: Client, assign: Assign) -> None:
    assign("echo")
    body = eyes.get("/simulator/?persona=researcher&tool=echo").content.decode()
    assert "would be accepted if its arguments fit" in body
    assert "echo is assigned: by name." in body


def test_arguments_are_judged(eyes: Client, assign: Assign, admin: User, persona: Persona) -> None:
    assign("echo")
    ToolVersion.objects.filter(tool__name="echo").update(required_capabilities=["text:echo"])
    only = [{"kind": "equals", "argument": "/text", "values": ["hi"]}]
    grant_create(by=admin, persona=persona, capability="text:echo", reason="r", conditions=only)
    form = {"persona": "researcher", "tool": "echo"}
    good = eyes.post("/simulator/", {**form, "arguments": '{"text": "hi"}'}).content.decode()
    assert "The call would be accepted." in good
    bad = eyes.post("/simulator/", {**form, "arguments": '{"text": "ho"}'})
    assert bad.status_code == 200
    assert "CAPABILITY_MISSING" in bad.content.decode()
    assert "is granted only where /text is hi" in bad.content.decode()
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"persona": "nobody", "tool": "echo"}, "persona"),
        ({"persona": "researcher", "tool": "no_such"}, "tool"),
        ({"persona": "researcher", "tool": "echo", "version": "9"}, "version"),
        ({"persona": "researcher", "tool": "echo", "arguments": "[1]"}, "arguments"),
        ({"persona": "researcher", "tool": "echo", "arguments": "{"}, "arguments"),
    ],
)
def test_what_is_wrong_is_told_at_its_field(
    eyes: Client, assign: Assign, form: dict[str, str], field: str, nothing_recorded: Callable[[], None]
) -> None:
    assign("echo")
    before = Event.objects.count()
    answer = eyes.post("/simulator/", {"version": "", "arguments": "", **form})
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert Event.objects.count() == before


def test_who_can_call_a_tool_is_listed_with_reasons(
    eyes: Client, assign: Assign, admin: User, persona: Persona
) -> None:
    assign("echo")
    persona_create(by=admin, name="stranger")
    ToolVersion.objects.filter(tool__name="echo").update(required_capabilities=["text:echo"])
    body = eyes.get("/tools/echo/callers/").content.decode()
    assert "researcher may not: text:echo is missing." in body
    assert "stranger" not in body
    grant_create(by=admin, persona=persona, capability="text", reason="r")
    assert "Held: text:echo by text." in eyes.get("/tools/echo/callers/").content.decode()
    assert "Nobody can call it" in eyes.get("/tools/hash/callers/").content.decode()


def test_a_run_says_what_allowed_it(
    eyes: Client, assign: Assign, call: Callable[..., Any], admin: User, persona: Persona
) -> None:
    assign("echo")
    call("echo", {"text": "hi"})
    assert "echo is assigned: by name." in eyes.get(f"/runs/{Run.objects.get().pk}/").content.decode()


def test_a_refusal_stands_in_the_audit_check_by_check(
    eyes: Client, assign: Assign, call: Callable[..., Any]
) -> None:
    assign("echo")
    ToolVersion.objects.filter(tool__name="echo").update(required_capabilities=["text:echo"])
    refused = call("echo", {"text": "hi"})
    assert refused.status_code == 403
    event = Event.objects.get(kind="run.refused")
    body = eyes.get(f"/audit/{event.pk}/").content.decode()
    assert "Grant text:echo to researcher. (an admin can.)" in body
    assert not Run.objects.exists()


def test_the_audit_of_a_persona_has_each_of_its_calls(
    eyes: Client, assign: Assign, call: Callable[..., Any], admin: User, persona: Persona
) -> None:
    assign("echo")
    ToolVersion.objects.filter(tool__name="echo").update(required_capabilities=["text:echo"])
    assert call("echo", {"text": 1}).status_code == 403  # denied and invalid: the denial is told
    grant_create(by=admin, persona=persona, capability="text:echo", reason="r")
    assert call("echo", {"text": 1}).status_code == 422
    assert call("echo", {"text": "hi"}).status_code == 200
    kinds = [event.kind for event in eyes.get("/audit/?persona=researcher").context["page"].rows]
    assert kinds == ["run.outcome", "run.accepted", "run.refused", "run.refused"]
    assert Grant.objects.count() == 1
