"""GET tools?format=…: the list as model providers take it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from openai.types.chat import ChatCompletionFunctionToolParam
from pydantic import TypeAdapter

from core.actors import SYSTEM
from registry.models import ToolVersion
from registry.releases.publish import release_publish
from toolhub_sdk.providers import PROVIDERS

pytestmark = pytest.mark.django_db
Get = Callable[..., Any]


@pytest.fixture
def get(client: Client, token_text: str, assign: Callable[[str], None]) -> Get:
    """GET tools?… with the package toolhub-data assigned (echo, hash, json_parse)."""
    assign("toolhub-data")

    def do(query: str, status: int = 200) -> Any:
        answer = client.get(f"/api/v1/tools?{query}", HTTP_AUTHORIZATION=f"Bearer {token_text}")
        assert answer.status_code == status, answer.content
        return answer

    return do


def test_a_list_for_openai_is_what_its_types_take(get: Get) -> None:
    answer = get("format=openai").json()
    TypeAdapter(list[ChatCompletionFunctionToolParam]).validate_python(answer["tools"])
    assert [tool["function"]["name"] for tool in answer["tools"]] == ["echo", "hash", "json_parse"]
    assert (answer["warnings"], answer["next"], answer["reason"]) == ([], None, None)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_gets_the_built_in_tools(get: Get, provider: str) -> None:
    answer = get(f"format={provider}").json()
    assert len(answer["tools"]) + len(answer["warnings"]) == 3
    assert "io.toolhub" not in str(answer)
    if not provider.endswith("-strict"):
        assert answer["warnings"] == []


def test_plain_text_is_a_plain_list(get: Get) -> None:
    answer = get("format=text")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    lines = answer.content.decode().splitlines()
    assert [line.split("(")[0] for line in lines] == ["- echo", "- hash", "- json_parse"]


def test_filters_hold_in_every_format(get: Get) -> None:
    assert [tool["name"] for tool in get("format=anthropic&tags=hash").json()["tools"]] == ["hash"]


def test_a_tool_without_a_form_is_left_out_with_a_warning(get: Get, assign: Callable[[str], None]) -> None:
    schema = {"type": "object", "properties": {"$top": {"type": "integer"}}}
    made = {"name": "list_top", "description": "Lists.", "inputSchema": schema}
    manifest = {
        "manifestVersion": "1",
        "name": "odata",
        "version": "1.0.0",
        "description": "Lists.",
        "runtime": {"type": "builtin", "entry": "catalogue.data"},
        "tools": [made],
    }
    release_publish(by=SYSTEM, manifest=manifest, files={})
    assign("odata")
    answer = get("format=anthropic").json()
    assert [tool["name"] for tool in answer["tools"]] == ["echo", "hash", "json_parse"]
    assert [warning["tool"] for warning in answer["warnings"]] == ["list_top"]
    assert "$top" in answer["warnings"][0]["message"]
    assert len(get("format=openai").json()["tools"]) == 4


def test_a_definition_that_came_in_broken_breaks_no_list(get: Get) -> None:
    ToolVersion.objects.filter(tool__name="hash").update(
        digest="0" * 64, definition={"name": "hash", "inputSchema": 5}
    )
    for provider in PROVIDERS:
        answer = get(f"format={provider}").json()
        assert "hash" in [warning["tool"] for warning in answer["warnings"]]
    assert "- hash()" in get("format=text").content.decode()


@pytest.mark.parametrize("query", ["format=xml", "format=", "format=openai&format=gemini", "format=OPENAI"])
def test_other_formats_are_refused(get: Get, query: str) -> None:
    problem = get(query, status=422).json()
    assert problem["errors"][0]["pointer"] == "/format"
