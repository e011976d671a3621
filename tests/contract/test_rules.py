"""A tool's rules in CEL: compiled when it is published, judged when a call is accepted."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.models import Event
from execution.models import Run
from registry.rules.judge import rule_values, rules_broken
from tests.execution.operations.conftest import operate
from tests.installations.conftest import fetch, install
from tests.installations.packages import tool as greet_tool
from toolhub_sdk.checks.expressions import expression_problems

__all__ = ["fetch", "install", "operate"]
pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
AT = "/tools/0/_meta/io.toolhub~1contract/validators"


def test_a_call_that_breaks_a_rule_is_refused_with_the_rules_message(fx_contract: None, call: Call) -> None:
    answer = call("fx_spend", {"amount": 1001})
    body = answer.json()
    assert (answer.status_code, body["error"]["code"]) == (422, "INVALID_ARGUMENTS")
    assert body["detail"] == "The amount is above what this persona may spend."
    assert body["errors"][0] == {
        "pointer": "/arguments/amount",
        "message": "The amount is above what this persona may spend.",
    }
    assert [each["message"] for each in body["errors"]][1] == "Large amounts need a session."
    assert not Run.objects.exists()
    assert '"/arguments/amount"' in Event.objects.get(kind="run.refused").canonical


def test_rules_see_the_context(fx_contract: None, call: Call) -> None:
    def spend(**body: Any) -> int:
        return int(
            call(
                "fx_spend", body={"arguments": {"amount": 950}, **body}, HTTP_PREFER="respond-async"
            ).status_code
        )

    assert spend() == 422
    assert spend(context={"session_id": "s"}) == 422
    assert spend(context={"session_id": "s"}, context_data={"approved_by": ""}) == 422
    assert spend(context={"session_id": "s"}, context_data={"approved_by": "the board"}) == 202


def test_a_rule_that_cannot_be_judged_does_not_hold(fx_contract: None, call: Call) -> None:
    body = call("fx_spend", body={"arguments": {"amount": 950}, "context": {"session_id": "s"}}).json()
    assert (
        body["detail"]
        == 'Name who approved it. (This rule could not be judged: it names "approved_by", which is missing here.)'
    )


@pytest.mark.sandbox
def test_a_call_within_the_rules_is_carried_out(fx_contract: None, carry: Call) -> None:
    assert carry("fx_spend", {"amount": 5})["data"] == 5


def test_validate_tells_of_broken_rules_and_leaves_nothing(fx_contract: None, operate: Call) -> None:
    called = {"toolName": "fx_spend", "arguments": {"amount": 600}}
    body = operate("validate", parameters=called).json()
    assert (body["metadata"]["valid"], body["results"][0]["error"]["message"]) == (
        False,
        "Large amounts need a session.",
    )
    assert not Run.objects.exists()


def test_rules_cost_no_query(fx_contract: None, call: Call) -> None:
    counts = {}
    for name, arguments in (("fx_pool", {}), ("fx_spend", {"amount": 5}), ("fx_pool", {})):
        with CaptureQueriesContext(connection) as queries:
            assert call(name, arguments, HTTP_PREFER="respond-async").status_code == 202
        counts[name] = len(queries)
    assert counts["fx_spend"] == counts["fx_pool"]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("arguments.name ==", "This is no CEL: it ends too early, after character 17."),
        ("arguments.name == 'a' &&& true", "This is no CEL at character 25: "),
        ("size(argument.name) > 1", "The expression names 'argument', which is not there."),
        ("arguments.list.map(x, arguments.list.map(y, y))", "An expression may not nest map"),
    ],
)
def test_a_rule_that_cannot_work_is_refused_where_it_is_wrong(expression: str, words: str) -> None:
    manifest = {"tools": [greet_tool(validators=[{"expression": expression, "message": "No."}])]}
    (problem,) = expression_problems(manifest)
    assert (problem.pointer, problem.message[: len(words)]) == (f"{AT}/0/expression", words)


def test_names_of_macros_are_no_variables() -> None:
    rule = {"expression": "arguments.name.split('').all(each, each > '0')", "message": "No."}
    assert not list(expression_problems({"tools": [greet_tool(validators=[rule])]}))


@pytest.mark.parametrize(
    "contract",
    [
        {"validators": [{"expression": "arguments.nmae != ''", "message": "No."}]},
        {"preconditions": [{"type": "custom", "description": "A.", "expression": "arguments.nmae != ''"}]},
        {"effects": [{"type": "memory", "description": "A.", "expression": "arguments.nmae"}]},
    ],
    ids=["rule", "precondition", "effect"],
)
def test_an_argument_that_no_call_has_is_told_with_those_like_it(contract: Any) -> None:
    found = list(expression_problems({"tools": [greet_tool(**contract)]}))
    assert [one.message for one in found] == [
        'It names arguments.nmae, which the tool does not take. Did you mean "name"? Arguments: name.'
    ]


def test_an_installation_fails_at_the_expression(fetch: Call) -> None:
    rules = [{"expression": "true", "message": "Yes."}, {"expression": "1 +", "message": "No."}]
    one = fetch(tools=[greet_tool(validators=rules)])
    assert (one.status, one.error["code"]) == ("failed", "INVALID_MANIFEST")
    assert one.error["details"]["errors"][0]["pointer"] == f"{AT}/1/expression", one.error


def test_rules_are_quick_and_bounded() -> None:
    rules = [{"expression": "arguments.list.all(x, x > 0)", "message": "All above 0."}] * 50
    began = time.perf_counter()
    assert rules_broken(rules, rule_values({"list": [1] * 500}, {}, {}, "p")) == []
    assert time.perf_counter() - began < 2.0
    large = rules_broken(rules[:1], rule_values({"list": [1] * 501}, {}, {}, "p"))
    assert large[0][1]["message"].startswith(
        "All above 0. (This rule could not be judged: a list has more than 500"
    )


def test_the_contract_of_a_tool_shows_its_rules(fx_contract: None, client: Any, token_text: str) -> None:
    read = client.get("/api/v1/tools/fx_spend", HTTP_AUTHORIZATION=f"Bearer {token_text}").json()
    assert len(read["contract"]["validators"]) == 3, read
