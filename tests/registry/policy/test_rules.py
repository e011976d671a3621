"""Rules that people add to a tool: tried in the console, kept across releases, obeyed by the next call."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from execution.models import Run
from registry.models import Tool, ToolVersion
from registry.rules.reading import stranded_words
from registry.rules.services import rule_remove
from security.models import Persona, User
from security.policy.tiers import tier_create, tier_set
from security.services import grant_create
from toolhub_sdk.checks.rule_names import names_gone

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
SHORT = {"expression": "size(arguments.text) <= 3", "message": "At most three letters.", "pointer": "/text"}


@pytest.fixture
def console(client: Client, admin: User) -> Client:
    client.force_login(admin)
    return client


def test_a_rule_is_tried_then_added_in_the_console_and_the_next_call_obeys(
    console: Client, call: Call, assign: Call, persona: Persona
) -> None:
    assign("echo")
    page = "/tools/echo/rules/"
    assert b"None yet." in console.get(page).content
    for text, words in (
        ("abc", "It holds: this call may go on."),
        ("abcd", "A caller would read: At most three"),
    ):
        tried = console.post(page, {**SHORT, "act": "try", "arguments": f'{{"text": "{text}"}}'})
        assert tried.status_code == 200
        assert words in tried.content.decode()
    assert Tool.objects.get(name="echo").rules == []
    assert call("echo", {"text": "abcd"}).status_code == 200
    assert console.post(page, {**SHORT, "act": "add", "arguments": "{}"}).status_code == 302
    runs = Run.objects.count()
    refused = call("echo", {"text": "abcd"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "INVALID_ARGUMENTS")
    assert refused.json()["errors"] == [{"pointer": "/arguments/text", "message": "At most three letters."}]
    assert Run.objects.count() == runs
    assert call("echo", {"text": "abc"}).status_code == 200
    assert '"expression":"size(arguments.text) <= 3"' in Event.objects.get(kind="tool.rule_added").canonical
    assert console.post("/tools/echo/rules/1/remove/").status_code == 302
    assert call("echo", {"text": "abcd"}).status_code == 200
    assert Event.objects.filter(kind="tool.rule_removed").count() == 1


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"expression": "size(arguments.text) <="}, "This is no CEL: it ends too early, after character 23."),
        ({"expression": "arguments.text = 'a'"}, "This is no CEL at character 16"),
        ({"expression": "argument.text == 'a'"}, "It names &#x27;argument&#x27;, which is not there"),
        ({"message": ""}, "This field is required."),
        ({"pointer": "text"}, "Name an argument by a JSON Pointer"),
        ({"arguments": "[1]"}, "Arguments are a JSON object"),
        ({"persona": "nobody"}, "There is no persona &#x27;nobody&#x27;."),
    ],
)
def test_what_is_wrong_stands_at_its_field(
    console: Client, published: None, changed: dict[str, str], words: str
) -> None:
    answer = console.post("/tools/echo/rules/", {**SHORT, "arguments": "{}", "act": "try", **changed})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert Tool.objects.get(name="echo").rules == []


def test_a_rule_knows_persona_tier_and_context(
    manage: Call, call: Call, assign: Call, admin: User, persona: Persona
) -> None:
    assign("echo")
    grant_create(
        by=admin, persona=Persona.objects.get(name="manager"), capability="toolhub:packages", reason="r"
    )
    rule = {
        "expression": 'size(arguments.text) <= {"pro": 9, "": 3}[tier] || context.session_id == "s"',
        "message": "Longer texts are for the tier pro.",
    }
    tried = manage("POST", "tools/echo/rules/try", **rule, arguments={"text": "abcd"}, persona="researcher")
    assert tried.json() == {"holds": False, "message": rule["message"], "gone": []}
    added = manage("POST", "tools/echo/rules", **rule)
    assert (added.status_code, added.json()["by"]) == (201, "admin")
    assert call("echo", {"text": "abcd"}).json()["detail"] == rule["message"]
    assert (
        call("echo", body={"arguments": {"text": "abcd"}, "context": {"session_id": "s"}}).status_code == 200
    )
    tier_set(by=admin, persona=persona, tier=tier_create(by=admin, name="pro"))
    assert call("echo", {"text": "abcd"}).status_code == 200
    assert manage("GET", "tools/echo/rules").json()["rules"] == [added.json()]
    assert manage("DELETE", "tools/echo/rules/9").status_code == 404
    assert manage("DELETE", "tools/echo/rules/1").status_code == 403
    rule_remove(by=admin, tool=Tool.objects.get(name="echo"), rule_id=1)
    assert manage("GET", "tools/echo/rules").json()["rules"] == []


def test_a_rule_stays_when_the_release_changes_and_is_told_when_its_arguments_are_gone(
    console: Client, admin: User, published: None, call: Call, assign: Call
) -> None:
    assign("echo")
    console.post("/tools/echo/rules/", {**SHORT, "act": "add", "arguments": "{}"})
    version = ToolVersion.objects.get(tool__name="echo")
    assert stranded_words(version.release, admin) == []
    definition = version.definition
    definition["inputSchema"]["properties"] = {"words": {"type": "string"}}
    ToolVersion.objects.filter(pk=version.pk).update(definition=definition)
    (words,) = stranded_words(version.release, admin)
    assert words.startswith("A rule of echo names text, which it lacks: it will refuse every call")
    assert (
        "Every call is refused: it names text, which is gone." in console.get("/tools/echo/").content.decode()
    )


@pytest.mark.parametrize(
    ("expression", "gone"),
    [
        ("arguments.a < arguments.b", ("b",)),
        ("!has(arguments.b) || arguments.b < 3", ()),
        ("arguments['a b'] == 'arguments.c' && size(arguments.a) > 1", ("a b",)),
        ("arguments.a.b.c == 1 || arguments.all(x, x != 'b')", ()),
    ],
)
def test_which_arguments_a_rule_names(expression: str, gone: tuple[str, ...]) -> None:
    assert names_gone({"expression": expression}, {"properties": {"a": {}}}) == gone


def test_without_the_permission_nothing_is_added_or_taken_away(
    client: Client, viewer: User, admin: User, published: None
) -> None:
    client.force_login(viewer)
    before = Event.objects.count()
    for path in ("/tools/echo/rules/", "/tools/echo/rules/1/remove/"):
        assert client.post(path, {**SHORT, "act": "add", "arguments": "{}"}).status_code in {403, 404, 422}
    assert Tool.objects.get(name="echo").rules == []
    assert Event.objects.count() == before
