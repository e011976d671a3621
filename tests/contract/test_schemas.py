"""Arguments are held to every keyword of a schema, at their place; what is left out is the tool's default."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from execution.entry.operations.capabilities import LATER
from execution.models import Run
from registry.models import ToolVersion
from security.models import Persona, User
from security.services import grant_create

pytestmark = pytest.mark.django_db
BAD: list[tuple[dict[str, Any], str]] = [
    ({"text": "a"}, "/arguments/text"),
    ({"text": "abcdef"}, "/arguments/text"),
    ({"text": 1}, "/arguments/text"),
    ({"code": "ab"}, "/arguments/code"),
    ({"number": -1}, "/arguments/number"),
    ({"number": 11}, "/arguments/number"),
    ({"whole": 1.5}, "/arguments/whole"),
    ({"choice": "c"}, "/arguments/choice"),
    ({"yes": "true"}, "/arguments/yes"),
    ({"items": []}, "/arguments/items"),
    ({"items": [1, "2"]}, "/arguments/items/1"),
    ({"inner": {}}, "/arguments/inner"),
    ({"inner": {"count": 0}}, "/arguments/inner/count"),
    ({"at": "yesterday"}, "/arguments/at"),
    ({"mail": "nobody"}, "/arguments/mail"),
    ({"link": "example"}, "/arguments/link"),
    ({"more": 1}, "/arguments/more"),
]


@pytest.mark.parametrize(("arguments", "pointer"), BAD, ids=[str(one) for one, _ in BAD])
def test_what_does_not_fit_is_422_at_its_place(
    fx_contract: None, call: Callable[..., Any], arguments: dict[str, Any], pointer: str
) -> None:
    answer = call("fx_schema", arguments)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "INVALID_ARGUMENTS")
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert not Run.objects.exists()


@pytest.mark.sandbox
def test_what_is_left_out_is_the_tools_default(fx_contract: None, carry: Callable[..., Any]) -> None:
    schema = ToolVersion.objects.get(tool__name="fx_schema").definition["inputSchema"]
    assert carry("fx_schema")["data"] == {
        name: each["default"] for name, each in schema["properties"].items()
    }
    assert carry("fx_schema", {"text": "xy"})["data"]["text"] == "xy"


def test_rights_come_before_arguments_and_each_call_stands_in_the_audit(
    fx_contract: None, call: Callable[..., Any], admin: User, persona: Persona
) -> None:
    version = ToolVersion.objects.get(tool__name="fx_pool")
    version.required_capabilities = ["file:read"]
    version.save(update_fields=["required_capabilities"])

    def tried(arguments: dict[str, Any]) -> int:
        return int(call("fx_pool", arguments, HTTP_PREFER="respond-async").status_code)

    assert tried({"more": 1}) == 403
    grant_create(by=admin, persona=persona, capability="file:read", reason="A test.")
    assert tried({"more": 1}) == 422
    assert tried({}) == 202
    kinds = Event.objects.filter(kind__startswith="run.").order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["run.refused", "run.refused", "run.accepted"]


@pytest.mark.sandbox
def test_the_context_reaches_the_tool(fx_contract: None, carry: Callable[..., Any]) -> None:
    ids = {"session_id": "s", "loop_id": "l", "agent_id": "a"}
    given = carry(
        "fx_context", body={"arguments": {}, "context": ids, "context_data": {"k": 1}, "hints": {"h": 2}}
    )
    assert given["data"] == {**ids, "context_data": {"k": 1}, "hints": {"h": 2}, "project": None}
    assert carry("fx_context")["data"] == {
        **dict.fromkeys(ids, "default"),
        "context_data": None,
        "hints": None,
        "project": None,
    }


def test_the_hub_says_what_it_can_do(client: Client, token_text: str) -> None:
    answer = client.get("/api/v1/capabilities", HTTP_AUTHORIZATION=f"Bearer {token_text}")
    told = answer.json()
    assert answer.status_code == 200
    assert {"execute_single", "execute_chain", "discover", "validate"} == set(told["operations"])
    assert {"orchestrate"} == LATER
    assert {"python", "command", "http", "builtin"} <= set(told["runners"])
    assert told["retry_policies"] == ["NONE", "QUICK", "STANDARD", "AGGRESSIVE"]
    assert told["limits"]["timeout_ms_default"] == 30_000
    assert client.get("/api/v1/capabilities").status_code == 401
