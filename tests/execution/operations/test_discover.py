"""discover: the same tools as GET tools."""

from typing import Any

import pytest
from django.test import Client

from tests.execution.operations.conftest import Operate

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tools")]


@pytest.mark.parametrize(
    ("wanted", "query", "names"),
    [
        ({"category": ["data"]}, "category=data", ["echo", "hash", "json_parse"]),
        ({"category": ["file"]}, "category=file", []),
        ({"pattern": "^JSON"}, "pattern=^JSON", ["json_parse"]),
        ({"tags": ["blake3"], "min_version": "1.0.0"}, "tags=blake3&min_version=1.0.0", ["hash"]),
        ({"capabilities": ["file:read:tmp"]}, "capabilities=file:read:tmp", ["fx_capable"]),
    ],
)
def test_it_answers_what_get_tools_answers(
    operate: Operate, client: Client, token_text: str, wanted: Any, query: str, names: list[str]
) -> None:
    body = operate("discover", filter=wanted).json()
    listed = client.get(f"/api/v1/tools?{query}", HTTP_AUTHORIZATION=f"Bearer {token_text}").json()
    assert body["status"] == "completed"
    assert [tool["name"] for tool in body["results"]] == names
    assert body["results"] == listed["tools"]
    assert (body["metadata"]["next"], body["metadata"]["reason"]) == (listed["next"], listed["reason"])


def test_without_a_filter_every_tool_of_the_caller_is_there(operate: Operate) -> None:
    names = [tool["name"] for tool in operate("discover").json()["results"]]
    assert {"echo", "hash", "json_parse", "fx_echo"} < set(names)
    assert "calculate" not in names


@pytest.mark.parametrize(
    ("members", "code", "pointer"),
    [
        ({"filter": {"category": ["pets"]}}, "INVALID_REQUEST", "/filter/category/0"),
        ({"filter": {"category": "data"}}, "INVALID_REQUEST", "/filter/category"),
        ({"filter": {"colour": "red"}}, "UNKNOWN_MEMBER", "/filter/colour"),
        ({"filter": {"min_version": "1"}}, "INVALID_REQUEST", "/filter/min_version"),
        ({"filter": {"pattern": "("}}, "INVALID_REQUEST", "/filter/pattern"),
        ({"after": "a\0"}, "INVALID_REQUEST", "/after"),
    ],
)
def test_a_filter_that_does_not_fit_is_422(operate: Operate, members: Any, code: str, pointer: str) -> None:
    answer = operate("discover", **members)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
