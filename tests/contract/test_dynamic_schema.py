"""A schema that depends on the context: asked for, kept, and held against calls."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.test import Client
from django.utils import timezone

from core.errors import Denied
from execution.engine.calls.dynamic_schemas import LIVES, schemas_expire
from execution.engine.perform import queue_work
from execution.engine.requests import CallRequest
from execution.entry.dynamic.services import Asked
from execution.entry.tries.services import schema_try
from execution.models import DynamicSchema, Run
from registry.models import Package, Tool
from security.models import Persona, User
from security.services import grant_create
from security.sharing.levels import EXECUTE
from security.sharing.services import right_give

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]
Ask = Callable[..., Any]


@pytest.fixture
def ask(client: Client, token_text: str) -> Ask:
    """Asks for a schema; with `works` the hook is called before the answer is read."""

    def post(name: str, body: Any, **headers: str) -> Any:
        return client.generic(
            "POST",
            f"/api/v1/tools/{name}/schema",
            orjson.dumps(body),
            content_type="",
            HTTP_AUTHORIZATION=f"Bearer {token_text}",
            **headers,
        )

    def do(name: str, db: str | None = None, *, works: bool = True, **more: Any) -> Any:
        body = {**({"context_data": {"db": db}} if db else {}), **more}
        first = post(name, body, HTTP_PREFER="respond-async")
        if first.status_code == 202 and works:
            queue_work("sandbox")
            return post(name, body, HTTP_PREFER="wait=0")
        return first

    return do


def called(db: str, table: str) -> dict[str, Any]:
    return {"arguments": {"table": table}, "context_data": {"db": db}}


def test_the_schema_is_the_contexts(fx_contract: None, ask: Ask) -> None:
    a, b = ask("fx_dyn", "a").json(), ask("fx_dyn", "b").json()
    assert a["inputSchema"]["properties"]["table"]["enum"] == ["orders", "people"]
    assert b["inputSchema"]["properties"]["table"]["enum"] == ["parts"]
    assert (a["dynamic"], a["cached"], a["version"]) == (True, True, "1.0.0")


def test_the_first_answer_is_the_run_that_makes_it(fx_contract: None, ask: Ask) -> None:
    accepted = ask("fx_dyn", "a", works=False)
    assert accepted.status_code == 202
    assert accepted["Location"] == f"/api/v1/runs/{accepted.json()['metadata']['run_id']}"
    run = Run.objects.get()
    assert (run.tool, run.request["hook"], run.arguments) == ("fx_dyn", "schema", {})
    queue_work("sandbox")
    run.refresh_from_db()
    assert run.result["properties"]["table"]["enum"] == ["orders", "people"]


def test_a_call_is_held_to_it_at_the_accept_once_it_is_known(
    fx_contract: None, ask: Ask, call: Callable[..., Any]
) -> None:
    ask("fx_dyn", "a")
    refused = call("fx_dyn", body=called("a", "parts"))
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/arguments/table")
    assert "in this context" in refused.json()["detail"]
    assert call("fx_dyn", body=called("a", "orders"), HTTP_PREFER="respond-async").status_code == 202


def test_a_call_is_held_to_it_by_the_worker_where_it_is_not_known(
    fx_contract: None, carry: Callable[..., Any], parts: Callable[..., Any]
) -> None:
    refused = carry("fx_dyn", body=called("b", "orders"))
    error = refused["error"]
    assert (refused["success"], error["code"]) == (False, "INVALID_ARGUMENTS")
    assert error["details"]["errors"][0]["pointer"] == "/arguments/table"
    assert parts(refused) == []
    done = carry("fx_dyn", body=called("b", "parts"))
    assert (done["data"], len(parts(done)), DynamicSchema.objects.count()) == ("read parts", 1, 1)


def test_what_the_hook_makes_has_the_budgets_of_published_schemas(fx_contract: None, ask: Ask) -> None:
    failed = ask("fx_dyn", "broken").json()
    queue_work("sandbox")
    assert failed["metadata"]["status"] == "pending"  # it is asked anew: a failure is not kept
    run = Run.objects.order_by("-pk").first()
    assert run is not None
    assert run.error["code"] == "INVALID_OUTPUT"
    assert run.error["details"]["errors"][0]["pointer"] == "/properties/table/$ref"


def test_a_hooks_own_error_is_told(fx_contract: None, carry: Callable[..., Any]) -> None:
    assert carry("fx_dyn", body=called("none", "x"))["error"]["code"] == "FX_NO_DATABASE"


def test_a_tool_without_the_hook_answers_with_its_own_schema(fx_contract: None, ask: Ask) -> None:
    answer = ask("fx_spend").json()
    assert (answer["dynamic"], answer["cached"], answer["run_id"]) == (False, True, None)
    assert answer["inputSchema"]["required"] == ["amount"]
    assert not Run.objects.exists()


def test_kept_schemas_are_a_personas_own_and_expire(
    fx_contract: None, ask: Ask, persona: Persona, call: Callable[..., Any]
) -> None:
    ask("fx_dyn", "a")
    ask("fx_dyn", "a", context={"session_id": "s"})
    assert DynamicSchema.objects.count() == 2
    assert schemas_expire() == 0
    DynamicSchema.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert call("fx_dyn", body=called("a", "parts"), HTTP_PREFER="respond-async").status_code == 202
    assert schemas_expire() == 2
    assert timedelta(minutes=1) <= LIVES <= timedelta(minutes=10)


def test_who_may_not_call_may_not_ask(fx_contract: None, ask: Ask, admin: User) -> None:
    assert ask("echo").status_code == 404
    assert ask("fx_dyn", arguments={}).status_code == 422
    assert ask("fx_dyn", hook="schema").status_code == 422


def test_grants_under_conditions_are_judged_when_the_arguments_are_there(
    fx_contract: None, ask: Ask, admin: User, persona: Persona, call: Callable[..., Any]
) -> None:
    version = Package.objects.get(name="fx-contract").tools.get(name="fx_dyn").active
    assert version is not None
    version.required_capabilities = ["file:read"]
    version.save(update_fields=["required_capabilities"])
    conditions = [{"kind": "equals", "argument": "/table", "values": ["orders"]}]
    grant_create(by=admin, persona=persona, capability="file:read", reason="A test.", conditions=conditions)
    assert ask("fx_dyn", "a").json()["cached"] is True
    assert call("fx_dyn", body=called("a", "people")).status_code == 403


def test_lists_say_that_a_schema_is_dynamic_and_a_contexts_comes_in_a_providers_form(
    fx_contract: None, ask: Ask, client: Client, token_text: str
) -> None:
    header = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    listed = client.get("/api/v1/tools", **header).json()["tools"]
    assert [tool["name"] for tool in listed if tool["dynamic"]] == ["fx_dyn"]
    warnings = client.get("/api/v1/tools?format=openai", **header).json()["warnings"]
    assert [each["tool"] for each in warnings] == ["fx_dyn"]
    assert "POST tools/fx_dyn/schema" in warnings[0]["message"]
    assert "depend on the context" in client.get("/api/v1/tools?format=text", **header).content.decode()
    ask("fx_dyn", "a")
    given = client.post(
        "/api/v1/tools/fx_dyn/schema?format=anthropic",
        {"context_data": {"db": "a"}},
        content_type="application/json",
        **header,
    ).json()
    assert given["tool"]["input_schema"]["properties"]["table"]["enum"] == ["orders", "people"]
    wrong = client.post(
        "/api/v1/tools/fx_dyn/schema?format=text", {}, content_type="application/json", **header
    )
    assert wrong.status_code == 422


def test_a_person_asks_with_the_right_to_execute_both(
    fx_contract: None, persona: Persona, admin: User
) -> None:
    kim, tool = User.objects.create_user("kim"), Tool.objects.get(name="fx_dyn")
    wish = CallRequest(arguments={}, context={})

    def asked() -> Asked:
        by = User.objects.get(pk=kim.pk)
        return schema_try(by=by, persona=persona, tool=tool.name, request=wish, seconds=0)

    right_give(by=admin, thing=persona, to=kim, level=EXECUTE)
    with pytest.raises(Denied, match="add_run on fx_dyn"):
        asked()
    right_give(by=admin, thing=tool, to=kim, level=EXECUTE)
    assert asked().run == Run.objects.get(responsible=kim)
