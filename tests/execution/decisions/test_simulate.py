"""The simulator over REST: its four questions, who may ask them, and that nothing comes of it."""

from collections.abc import Callable
from typing import Any

import pytest

from audit.models import Event
from core.keyset import cursor_kind, cursor_make
from execution.models import Run
from registry.models import Tool
from registry.services import assignment_create
from security.models import Grant, Persona, User
from security.services import grant_create, persona_create, persona_switch

pytestmark = pytest.mark.django_db
Ask = Callable[..., Any]
Assign = Callable[[str], None]


def test_an_allowed_call_is_told_with_every_check_and_nothing_runs(ask: Ask, assign: Assign) -> None:
    assign("echo")
    events = Event.objects.count()
    answer = ask(persona="researcher", tool="echo", arguments={"text": "hi"}).json()
    assert answer["allowed"] is True
    assert (answer["status"], answer["error"], answer["version"]) == (200, None, "1.0.0")
    assert [check["verdict"] for check in answer["decision"]["checks"]] == ["pass"] * len(
        answer["decision"]["checks"]
    )
    assert not Run.objects.exists()
    assert Event.objects.count() == events


def test_a_denial_names_the_check_the_remedy_and_who_can_change_it(
    ask: Ask, assign: Assign, admin: User, persona: Persona
) -> None:
    assign("echo")
    persona_switch(by=admin, persona=persona, on=False)
    answer = ask(persona="researcher", tool="echo", arguments={"text": "hi"}).json()
    assert (answer["allowed"], answer["status"], answer["error"]["code"]) == (False, 403, "PERMISSION_DENIED")
    (failed,) = [check for check in answer["decision"]["checks"] if check["verdict"] == "fail"]
    assert failed["name"] == "persona"
    assert failed["remedy"] == "Switch the persona on."
    assert failed["who"] == "an operator or an admin"


def test_arguments_that_do_not_fit_are_told_with_pointers(ask: Ask, assign: Assign) -> None:
    assign("echo")
    answer = ask(persona="researcher", tool="echo", arguments={}).json()
    assert (answer["allowed"], answer["status"], answer["error"]["code"]) == (False, 422, "INVALID_ARGUMENTS")
    assert answer["errors"][0]["pointer"].startswith("/arguments")
    assert answer["decision"]["allowed"] is True


def test_without_arguments_they_are_not_judged(ask: Ask, assign: Assign) -> None:
    assign("echo")
    assert ask(persona="researcher", tool="echo").json()["allowed"] is True


def test_an_agent_hears_nothing_of_a_tool_that_it_may_not_see(ask: Ask, published: None) -> None:
    here, nowhere = ask(persona="researcher", tool="echo").json(), ask(persona="researcher", tool="no").json()
    for answer, name in ((here, "echo"), (nowhere, "no")):
        assert answer["decision"] is None
        assert answer["error"]["message"] == f'No tool named "{name}" is available to you.'
    assert here["status"] == nowhere["status"] == 404


def test_an_agent_hears_that_four_eyes_hold_against_a_grant_in_advance(
    ask: Ask, assign: Assign, admin: User, persona: Persona
) -> None:
    assign("echo")
    Tool.objects.filter(name="echo").update(asks_approval=True)
    other = User.objects.create_user("other")
    Grant.objects.create(persona=persona, capability="approved:echo", reason="r", granted_by=other)
    assert ask(persona="researcher", tool="echo", arguments={"text": "hi"}).json()["status"] == 200
    Grant.objects.update(granted_by=admin)
    answer = ask(persona="researcher", tool="echo", arguments={"text": "hi"}).json()
    assert (answer["allowed"], answer["status"]) == (True, 202)
    assert "it does not count" in answer["decision"]["checks"][-1]["reason"]


@pytest.mark.parametrize("body", [{"persona": "researcher", "tool": "a\0b"}, {"tool": "a\0b"}])
def test_a_tool_with_a_nul_is_told_where(ask: Ask, may_ask: None, body: dict[str, str]) -> None:
    answer = ask(**body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/tool")


def test_who_may_ask_about_others_is_told_that_the_tool_is_not_assigned(
    ask: Ask, admin: User, published: None, may_ask: None
) -> None:
    persona_create(by=admin, name="clerk")
    answer = ask(persona="clerk", tool="echo").json()
    assert answer["error"]["code"] == "TOOL_NOT_FOUND"
    failed = next(check for check in answer["decision"]["checks"] if check["verdict"] == "fail")
    assert failed["reason"] == "echo is not assigned to clerk."


@pytest.mark.parametrize(
    "body", [{"persona": "clerk"}, {"tool": "echo"}, {"persona": "clerk", "tool": "echo"}]
)
def test_others_are_asked_about_only_with_the_capability_and_the_persons_permission(
    ask: Ask, admin: User, persona: Persona, published: None, body: dict[str, str]
) -> None:
    persona_create(by=admin, name="clerk")
    refused = ask(**body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "CAPABILITY_MISSING")
    grant_create(by=admin, persona=persona, capability="toolhub:*", reason="asks")
    assert ask(**body).status_code == 200
    User.objects.filter(pk=admin.pk).update(is_superuser=False)
    assert (ask(**body).status_code, ask(**body).json()["error"]["code"]) == (403, "PERMISSION_DENIED")


def test_what_a_persona_can_do(ask: Ask, assign: Assign) -> None:
    assign("toolhub-data")
    answer = ask(persona="researcher").json()
    assert [row["tool"] for row in answer["tools"]] == sorted(row["tool"] for row in answer["tools"])
    echo = next(row for row in answer["tools"] if row["tool"] == "echo")
    assert (echo["allowed"], echo["code"]) == (True, None)
    assert echo["reason"] == "echo is assigned: with the package toolhub-data. echo needs no capability."
    assert (
        ask(persona="researcher", after=cursor_make(cursor_kind(Tool.objects.all(), "name"), "hash")).json()[
            "tools"
        ][0]["tool"]
        > "hash"
    )


def test_who_can_call_a_tool(ask: Ask, assign: Assign, admin: User, persona: Persona, may_ask: None) -> None:
    assign("echo")
    answer = ask(tool="echo").json()
    assert [(row["persona"], row["allowed"]) for row in answer["personas"]] == [("researcher", True)]
    resting = persona_create(by=admin, name="resting")
    assignment_create(by=admin, persona=resting, tool=Tool.objects.get(name="echo"))
    persona_switch(by=admin, persona=resting, on=False)
    (row,) = (row for row in ask(tool="echo").json()["personas"] if row["persona"] == "resting")
    assert (row["allowed"], row["code"], row["who"]) == (
        False,
        "PERMISSION_DENIED",
        "an operator or an admin",
    )


def test_an_empty_list_says_why(ask: Ask, published: None, may_ask: None) -> None:
    assert (
        ask(persona="researcher").json()["reason"]
        == "No tool is assigned to researcher. An admin can assign one."
    )
    assert ask(tool="echo").json()["reason"] == "echo is assigned to nobody. An admin can assign it."


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({}, "INVALID_REQUEST", None),
        ({"persona": "researcher", "tool": 1}, "INVALID_REQUEST", "/tool"),
        ({"persona": "researcher", "arguments": {}}, "UNKNOWN_MEMBER", "/arguments"),
        ({"required": ["a"]}, "INVALID_REQUEST", ""),
        ({"required": ["a"], "held": "a"}, "INVALID_REQUEST", "/held"),
        (
            {"persona": "researcher", "tool": "echo", "isolation_level": "much"},
            "INVALID_REQUEST",
            "/isolation_level",
        ),
        ({"persona": "researcher", "after": "a\0"}, "INVALID_REQUEST", "/after"),
    ],
)
def test_a_question_that_does_not_fit_is_told_where(
    ask: Ask, persona: Persona, body: dict[str, Any], code: str, pointer: str | None
) -> None:
    answer = ask(**body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
    assert [error["pointer"] for error in answer.json().get("errors", ())] == (
        [] if pointer is None else [pointer]
    )


def test_a_persona_that_does_not_exist_is_told(ask: Ask, may_ask: None) -> None:
    answer = ask(persona="nobody", tool="echo")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/persona"
