"""validate: everything before execution, and nothing else."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from audit.models import Denial, Event
from execution.models import Run
from security.models import Persona, User
from security.policy.models import Limit, Usage
from tests.execution.operations.conftest import Operate

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tools")]


@pytest.fixture(autouse=True)
def nothing_recorded(tools: None, token_text: str) -> Any:
    """Whatever is validated: no run, no event of the ledger, no denial."""
    before = Event.objects.count()
    yield
    assert not Run.objects.exists()
    assert not Denial.objects.exists()
    assert Event.objects.count() == before


def test_a_call_that_would_be_accepted_is_not_carried_out(operate: Operate, tmp_path: Path) -> None:
    file = tmp_path / "world"
    parameters = {"toolName": "fx_count", "arguments": {"file": str(file)}}
    answer = operate("validate", parameters=parameters, options={"timeoutMs": 100})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["status"], body["metadata"]["valid"], body["errors"]) == ("completed", True, [])
    [result] = body["results"]
    assert (result["status"], result["error"]) == ("success", None)
    assert result["decision"]["allowed"] is True
    assert result["metadata"]["version"] == "1.0.0"
    assert result["metadata"]["timeout_ms"] == 100
    assert not file.exists()


@pytest.mark.parametrize(
    ("parameters", "code", "pointers", "allowed"),
    [
        ({"toolName": "none"}, "TOOL_NOT_FOUND", [], None),
        ({"toolName": "fx_capable"}, "CAPABILITY_MISSING", [], False),
        (
            {"toolName": "echo", "arguments": {"text": 1, "more": 2}},
            "INVALID_ARGUMENTS",
            {"/parameters/arguments/text", "/parameters/arguments/more"},
            None,
        ),
    ],
)
def test_a_call_that_would_be_refused_says_why(
    operate: Operate, parameters: Any, code: str, pointers: Any, allowed: bool | None
) -> None:
    body = operate("validate", parameters=parameters).json()
    assert (body["status"], body["metadata"]["valid"]) == ("completed", False)
    [result] = body["results"]
    assert (result["status"], result["error"]["code"]) == ("failure", code)
    assert {error["pointer"] for error in result["error"]["details"].get("errors", [])} == set(pointers)
    assert (result["decision"] and result["decision"]["allowed"]) == allowed
    assert body["errors"][0]["index"] == 0


def test_a_chain_with_an_unknown_tool_has_errors_with_their_index(operate: Operate) -> None:
    calls = [
        {"toolName": "echo", "arguments": {"text": "a"}},
        {"toolName": "none"},
        {"toolName": "echo"},
    ]
    body = operate("validate", calls=calls).json()
    assert [result["status"] for result in body["results"]] == ["success", "failure", "failure"]
    assert [(error["index"], error["code"]) for error in body["errors"]] == [
        (1, "TOOL_NOT_FOUND"),
        (2, "INVALID_ARGUMENTS"),
    ]


def mapped(names: list[str], arguments: Any, tool: str = "echo") -> list[Any]:
    mapping = {name: {"from": "a", "pointer": "/text"} for name in names}
    first = {"id": "a", "toolName": "echo", "arguments": {"text": "a"}}
    return [first, {"toolName": tool, "arguments": arguments, "mapping": mapping}]


@pytest.mark.parametrize(
    ("calls", "valid"),
    [
        (mapped(["text"], {}), True),
        (mapped(["num1"], {"operation": "add", "num2": 1}, "fx_sleep"), False),
        (mapped(["seconds"], {}, "fx_sleep"), True),
        (mapped(["other"], {}), False),
        (mapped(["other"], {"text": "a"}), False),
        (mapped(["text"], {"other": 1}), False),
    ],
)
def test_values_that_come_later_are_not_looked_at_but_their_names_are(
    operate: Operate, calls: Any, valid: bool
) -> None:
    assert operate("validate", calls=calls).json()["metadata"]["valid"] is valid


def test_a_circle_is_422(operate: Operate) -> None:
    calls = [{"id": "a", "toolName": "echo", "dependsOn": ["a"]}]
    assert operate("validate", order="auto", calls=calls).status_code == 422


@pytest.mark.parametrize("members", [{}, {"parameters": {"toolName": "echo"}, "calls": []}])
def test_it_takes_one_call_or_a_chain(operate: Operate, members: Any) -> None:
    assert operate("validate", **members).status_code == 422


def test_a_used_up_quota_is_told_as_a_call_would_hear_it(
    operate: Operate, admin: User, persona: Persona
) -> None:
    what = {"kind": "quota", "measure": "calls", "window_s": 86_400, "amount": 1, "tool": "echo"}
    limit = Limit.objects.create(persona=persona, created_by=admin, **what)
    parameters = {"toolName": "echo", "arguments": {"text": "a"}}
    [free] = operate("validate", parameters=parameters).json()["results"]
    assert free["status"] == "success"
    ends = timezone.now() + timedelta(hours=1)
    Usage.objects.create(limit=limit, whose=persona.pk, used=1, most=1, ends_at=ends)
    body = operate("validate", parameters=parameters).json()
    [full] = body["results"]
    assert (body["metadata"]["valid"], full["error"]["code"]) == (False, "QUOTA_EXCEEDED")
    assert "used up" in full["error"]["message"]
    assert full["decision"]["allowed"] is False
    assert Usage.objects.get().used == 1
