"""What a model reads that calls a tool in a wrong way: what was expected, near names, the next call in full."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

from execution.models import Run
from registry.models import Tool
from registry.services import assignment_create
from security.models import Persona, User
from tests.execution.mcp.conftest import ask
from tests.published import catalogue_publish
from toolhub_sdk.checks.near import near_names

__all__ = ["ask"]

pytestmark = pytest.mark.django_db
CATALOGUE = "tests.mistaken_catalogue"
GOOD = {"room": "single", "nights": 2}
ROOMS = ('"single"', '"double"', '"twin"', '"suite"')


@dataclass(frozen=True)
class Mistake:
    """A call that goes wrong: the body or the arguments, the tool, and what the answer has to hold."""

    name: str
    told: tuple[str, ...]
    code: str = "INVALID_ARGUMENTS"
    arguments: dict[str, Any] = field(default_factory=dict)
    # In place of `{"arguments": …}`.
    body: Any = None
    tool: str = "book_room"
    pointer: str = ""
    # Members of the next call's arguments; None where there is no next call.
    next: dict[str, Any] | None = field(default_factory=dict)
    rest_only: bool = False


def arguments(name: str, wrong: dict[str, Any], pointer: str, *told: str, **right: Any) -> Mistake:
    return Mistake(name, told, arguments={**GOOD, **wrong}, pointer=pointer, next=right)


def body(name: str, given: Any, code: str, *told: str, rest_only: bool = False, **right: Any) -> Mistake:
    return Mistake(name, told, code, body=given, next=right or GOOD, rest_only=rest_only)


def text(name: str, given: str, code: str, *told: str) -> Mistake:
    return Mistake(name, told, code, body=given.encode(), next=GOOD, rest_only=True)


MISTAKES = [
    arguments("a value that is none of the choices", {"room": "penthouse"}, "/room", *ROOMS, '"penthouse"'),
    arguments(
        "a choice misspelt", {"room": "Doubel"}, "/room", *ROOMS, 'Did you mean "double"?', room="double"
    ),
    arguments("a choice in capitals", {"room": "TWIN"}, "/room", 'Did you mean "twin"?', room="twin"),
    arguments("a string for an integer", {"nights": "3"}, "/nights", "an integer", '"3"', nights=3),
    arguments("a fraction for an integer", {"nights": 2.5}, "/nights", "an integer", "2.5", nights=2),
    arguments("a number for a string", {"notes": 7}, "/notes", "a string", "7", notes="7"),
    arguments("a string for a boolean", {"breakfast": "true"}, "/breakfast", "true or false", breakfast=True),
    arguments("one for an array", {"extras": "cot"}, "/extras", "an array", '"cot"', extras=["cot"]),
    arguments("an array for one", {"notes": ["late"]}, "/notes", "a string", "array of 1 item", notes="late"),
    arguments("null for an optional one", {"notes": None}, "/notes", "a string", "null"),
    arguments("a number that is too large", {"nights": 31}, "/nights", "at most 30", "31", nights=30),
    arguments("a number that is too small", {"price": -1}, "/price", "at least 0", "-1", price=0),
    arguments("a date in words", {"arrival": "tomorrow"}, "/arrival", "date", "2026-01-31"),
    arguments("a time without a zone", {"wake_up": "8 am"}, "/wake_up", "date-time", "2026-01-31T09:30:00Z"),
    arguments("no uri", {"website": "example"}, "/website", "uri", "https://example.com/"),
    arguments("no such form", {"code": "abc"}, "/code", "^[A-Z]{3}-[0-9]{2}$", '"abc"', code="ABC-12"),
    arguments("a text that is too long", {"notes": "a" * 41}, "/notes", "at most 40 characters", "41"),
    arguments("too many items", {"extras": list("abcd")}, "/extras", "at most 3 items", "4 items"),
    arguments("an item twice", {"tags": ["a", "a"]}, "/tags", "item 1 repeats item 0", tags=["a"]),
    arguments("an unknown member", {"colour": "red"}, "/colour", '"colour"', "Known: nights, room, arrival"),
    arguments("a member misspelt", {"note": "x"}, "/note", 'Did you mean "notes"?', notes="x"),
    arguments("a member in camelCase", {"wakeUp": "x"}, "/wakeUp", 'Did you mean "wake_up"?'),
    arguments("an inner one", {"guest": {"name": "Ada", "email": "ada"}}, "/guest/email", "email", "@"),
    arguments("an inner one missing", {"guest": {"name": "Ada"}}, "/guest", '"email" is missing', "a string"),
    Mistake("nothing", ('"room" is missing', *ROOMS), arguments={}, next=GOOD),
    Mistake(
        "one missing",
        ('"nights" is missing', "an integer"),
        arguments={"room": "twin"},
        next={"room": "twin"},
    ),
    body(
        "arguments at the top",
        GOOD,
        "UNKNOWN_MEMBER",
        '"room" is an argument of book_room: put it under "arguments".',
    ),
    body(
        "arguments as a text", {"arguments": json.dumps(GOOD)}, "INVALID_REQUEST", "an object", "the string"
    ),
    body("args", {"args": GOOD}, "UNKNOWN_MEMBER", 'Did you mean "arguments"?', rest_only=True),
    body("params", {"params": GOOD}, "UNKNOWN_MEMBER", '"params"', '"arguments"', rest_only=True),
    body("input", {"input": GOOD}, "UNKNOWN_MEMBER", '"input"', '"arguments"', rest_only=True),
    body(
        "a provider's call",
        {"type": "function", "function": {"name": "book_room", "arguments": json.dumps(GOOD)}},
        "UNKNOWN_MEMBER",
        '"function"',
        '"arguments"',
        rest_only=True,
    ),
    body("a list", [GOOD], "INVALID_REQUEST", "an object", "an array of 1 item", rest_only=True),
    body(
        "a key in the body",
        {"arguments": GOOD, "idempotency_key": "k"},
        "UNKNOWN_MEMBER",
        "the header Idempotency-Key",
        rest_only=True,
    ),
    body(
        "an unknown id", {"arguments": GOOD, "context": {"sessionId": "a"}}, "INVALID_REQUEST", '"session_id"'
    ),
    body("an unknown bound", {"arguments": GOOD, "limits": {"timeout": 5}}, "INVALID_REQUEST", '"timeoutMs"'),
    body(
        "an unknown isolation",
        {"arguments": GOOD, "isolation_level": "stict"},
        "INVALID_REQUEST",
        '"strict"',
        '"paranoid"',
        'Did you mean "strict"',
    ),
    text("a trailing comma", '{"arguments": {"room": "single", "nights": 2,}}', "NOT_JSON", "comma before"),
    text("single quotes", "{'arguments': {'room': 'single', 'nights': 2}}", "NOT_JSON", "single quotes"),
    text("a comment", '{"arguments": {"room": "single", "nights": 2}} // done', "NOT_JSON", "a comment"),
    text(
        "a fence", '```json\n{"arguments": {"room": "single", "nights": 2}}\n```', "NOT_JSON", "a code fence"
    ),
    text("no quotes", '{arguments: {room: "single", nights: 2}}', "NOT_JSON", "without quotes"),
    text(
        "Python's True",
        '{"arguments": {"room": "single", "nights": 2, "breakfast": True}}',
        "NOT_JSON",
        "literal",
    ),
    text("NaN", '{"arguments": {"room": "single", "nights": 2, "price": NaN}}', "NUMBER_NOT_FINITE", "null"),
    text("a form", "room=single&nights=2", "NOT_JSON", "JSON"),
    text(
        "an integer that is too large",
        '{"arguments": {"room": "single", "nights": 2, "notes": 12345678901234567891}}',
        "NUMBER_NOT_EXACT",
        "If the schema takes a string",
        "9007199254740991",
    ),
    text(
        "half a character",
        '{"arguments": {"room": "single", "nights": 2, "notes": "\\ud800"}}',
        "LONE_SURROGATE",
        "half a surrogate pair",
    ),
    text(
        "an integer far too large",
        '{"arguments": {"room": "single", "nights": 2, "price": ' + "9" * 30 + "}}",
        "NUMBER_NOT_EXACT",
        "9007199254740991",
    ),
    text(
        "a number beyond all",
        '{"arguments": {"room": "single", "nights": 2, "price": 1e999}}',
        "NUMBER_OUT_OF_RANGE",
        "beyond the range",
    ),
    *(
        Mistake(
            f"a name like {name}", ("Did you mean book_room?",), "TOOL_NOT_FOUND", GOOD, tool=name, next=GOOD
        )
        for name in (
            "Book_Room",
            "book-room",
            "bookRoom",
            "book_rom",
            "room_book",
            "booking__book_room",
            "functions.book_room",
            "mcp__hub__book_room",
            "book",
        )
    ),
    Mistake("no like name", ("No tool named",), "TOOL_NOT_FOUND", GOOD, tool="zzzzzz", next=None),
    Mistake("a version", ("Versions: 1.0.0.",), "VERSION_NOT_FOUND", GOOD, tool="book_room@2.0.0", next=GOOD),
]
IDS = [one.name for one in MISTAKES]


@pytest.fixture
def rooms(admin: User, persona: Persona, settings: Any) -> None:
    settings.CATALOGUE = CATALOGUE
    catalogue_publish(CATALOGUE)
    for name in ("book_room", "cancel_booking"):
        assignment_create(by=admin, persona=persona, tool=Tool.objects.get(name=name))


@pytest.fixture
def send(client: Client, token_text: str) -> Callable[..., Any]:
    def do(tool: str, given: Any) -> Any:
        return client.post(
            f"/api/v1/tools/{tool}/execute",
            given if isinstance(given, bytes) else json.dumps(given),
            content_type="application/json",
            HTTP_AUTHORIZATION=f"Bearer {token_text}",
        )

    return do


def fits(case: Mistake, error: dict[str, Any], errors: list[dict[str, str]]) -> None:
    """Whether an answer has what the table says, within bounds, and no name that the caller may not see."""
    whole = json.dumps([error, errors], ensure_ascii=False)
    words = " ".join([error["message"], *(one["message"] for one in errors), *error["suggestions"]])
    assert error["code"] == case.code, whole
    missing = [text for text in case.told if text not in words]
    assert not missing, (missing, words)
    if case.pointer:
        assert f"/arguments{case.pointer}" in [one["pointer"] for one in errors], errors
    assert "secret_rooms" not in whole
    assert len(whole) < 12_000
    call = error["details"].get("next_call")
    if case.next is None:
        assert call is None
        return
    assert call["arguments"].items() >= case.next.items(), call
    assert json.dumps(call["arguments"], ensure_ascii=False) in " ".join(error["suggestions"])


def test_a_call_by_rest_that_is_wrong_shows_the_next_one(
    rooms: None, send: Callable[..., Any], subtests: Any
) -> None:
    runs = 0
    for case in MISTAKES:
        with subtests.test(case.name):
            answer = send(case.tool, {"arguments": case.arguments} if case.body is None else case.body)
            said = answer.json()
            assert answer.status_code >= 400
            fits(case, said["error"], said.get("errors", []))
            assert Run.objects.count() == runs
            if call := said["error"]["details"].get("next_call"):
                done = send(call["tool"], {"arguments": call["arguments"]})
                assert (done.status_code, done.json()["success"]) == (200, True), done.json()
                runs += 1


def test_a_wrong_address_or_method_names_the_right_one(client: Client, token_text: str) -> None:
    token = f"Bearer {token_text}"
    for wrong, right in (
        ("tools/echo/run", "tools/echo/execute"),
        ("tool/echo/execute", "tools/echo/execute"),
        ("runs/7/canceled", "runs/7/cancel"),
        ("toolz", "tools"),
    ):
        answer = client.post(f"/api/v1/{wrong}", b"{}", content_type="text/plain", HTTP_AUTHORIZATION=token)
        assert answer.status_code == 404
        assert answer.json()["error"]["details"]["near"][0] == f"/api/v1/{right}"
    answer = client.get("/api/v1/tools/echo/execute", HTTP_AUTHORIZATION=token)
    assert answer.status_code == 405
    assert "POST" in answer.json()["error"]["suggestions"][0]


def test_an_unknown_operation_names_the_known_ones(client: Client, token_text: str) -> None:
    answer = client.post(
        "/api/v1/execute",
        json.dumps({"operation": "executeSingle", "parameters": {}}),
        content_type="application/json",
        HTTP_AUTHORIZATION=f"Bearer {token_text}",
    )
    assert answer.status_code == 422
    assert 'Did you mean "execute_single"?' in answer.json()["detail"]
    assert '"validate"' in answer.json()["detail"]


def test_a_key_that_does_not_fit_says_what_does(rooms: None, client: Client, token_text: str) -> None:
    for key in ("", "k" * 256, "schedule:1"):
        answer = client.post(
            "/api/v1/tools/book_room/execute",
            json.dumps({"arguments": GOOD}),
            content_type="application/json",
            HTTP_AUTHORIZATION=f"Bearer {token_text}",
            HTTP_IDEMPOTENCY_KEY=key,
        )
        assert answer.status_code == 422
        assert "ey" in answer.json()["detail"]
        assert answer.json()["errors"][0]["pointer"] == "/Idempotency-Key"


def test_near_names_cost_no_more_for_hostile_ones() -> None:
    """Names are compared by their first 64 characters, and at most 1,000 of them."""
    work = [calls_of(lambda size=size: near_names("a" * size, many(size))) for size in (2_000, 20_000)]
    assert work[1] < work[0] * 1.2
    assert near_names("tol1", (f"tool{number}" for number in range(10**9)))[0] == "tool1"


def many(size: int) -> list[str]:
    return [f"{'ab' * (size // 2)}{number}" for number in range(size)]


def calls_of(do: Callable[[], Any]) -> int:
    """How many functions of Python are called."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        do()
    finally:
        sys.setprofile(None)
    return count


def test_the_same_call_by_mcp_has_the_same_words(
    rooms: None, ask: Callable[..., Any], send: Callable[..., Any], subtests: Any
) -> None:
    for case in MISTAKES:
        if case.rest_only:
            continue
        with subtests.test(case.name):
            given = {"arguments": case.arguments} if case.body is None else dict(case.body)
            meta = {
                name: given.pop(name) for name in ("context", "limits", "isolation_level") if name in given
            }
            if meta:
                given["_meta"] = {"io.toolhub/call": meta}
            answer = ask("tools/call", name=case.tool, **given).json()
            if "error" in answer:
                error = answer["error"]["data"]
                assert answer["error"]["message"] == error["message"]
            else:
                assert answer["result"]["isError"]
                error = json.loads(answer["result"]["content"][0]["text"])
            fits(case, error, error.get("errors", []))
            by_rest = send(
                case.tool, {"arguments": case.arguments} if case.body is None else case.body
            ).json()
            assert error["message"] == by_rest["error"]["message"]
            assert error["details"] == by_rest["error"]["details"]


def test_arguments_that_are_null_or_absent_are_none(
    rooms: None, ask: Callable[..., Any], send: Callable[..., Any]
) -> None:
    """By REST, by MCP and in an operation they are an empty object."""
    missing = [send("book_room", given).json() for given in ({"arguments": None}, {}, {"arguments": {}})]
    assert len({json.dumps(one) for one in missing}) == 1
    assert missing[0]["error"]["code"] == "INVALID_ARGUMENTS"
    told = [ask("tools/call", name="book_room", **given).json() for given in ({"arguments": None}, {})]
    assert told[0] == told[1]
    assert json.loads(told[0]["result"]["content"][0]["text"])["message"] == missing[0]["detail"]
