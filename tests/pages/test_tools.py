"""The pages of tools."""

from collections.abc import Callable

import pytest
from django.test import Client

from core.actors import SYSTEM
from registry.models import Tool, ToolVersion, VersionState
from registry.releases.publish import release_publish
from security.models import Persona

pytestmark = pytest.mark.usefixtures("published")


def shown(eyes: Client, query: str = "") -> list[str]:
    """The names of the tools that the list shows, in its order."""
    return [tool.name for tool in eyes.get(f"/tools/{query}").context["page"].rows]


def test_the_list_shows_every_tool_by_name(eyes: Client) -> None:
    names = shown(eyes)
    assert names == sorted(names)
    assert {"echo", "hash", "calculate", "current_time", "json_parse"} <= set(names)


def test_the_list_is_narrowed_by_category_and_text(eyes: Client) -> None:
    assert shown(eyes, "?category=system") == ["current_time"]
    assert shown(eyes, "?q=ECH") == ["echo"]
    assert shown(eyes, "?q=ECH&category=system") == []
    assert set(shown(eyes, "?package=toolhub-data")) == {"echo", "hash", "json_parse"}


def test_no_match_says_so_and_leads_back(eyes: Client) -> None:
    body = eyes.get("/tools/?q=zzz").content.decode()
    assert "No tool fits" in body
    assert "Show all tools" in body


def test_personas_are_counted_once_however_a_tool_is_assigned(
    eyes: Client, persona: Persona, assign: Callable[[str], None]
) -> None:
    assign("echo")
    assign("toolhub-data")
    rows = {tool.name: tool.personas for tool in eyes.get("/tools/").context["page"].rows}
    assert (rows["echo"], rows["hash"], rows["calculate"]) == (1, 1, 0)


def test_runs_of_the_day_are_counted(
    eyes: Client, assign: Callable[[str], None], call: Callable[..., object]
) -> None:
    assign("echo")
    call("echo", {"text": "one"})
    call("echo", {"text": "two"})
    assert '<a href="/runs/?tool=echo&amp;since=24">2</a>' in eyes.get("/tools/").content.decode()


def test_a_tool_shows_its_contract_arguments_and_call(eyes: Client) -> None:
    body = eyes.get("/tools/current_time/").content.decode()
    assert "An IANA time zone name" in body
    assert "at most 64 characters" in body
    assert "&quot;UTC&quot;" in body
    assert "UNKNOWN_TIMEZONE" in body
    assert "/api/v1/tools/current_time/execute" in body
    assert "$TOKEN" in body


def test_a_tool_says_who_sees_it_and_how(
    eyes: Client, persona: Persona, assign: Callable[[str], None]
) -> None:
    assert "No persona sees it" in eyes.get("/tools/echo/").content.decode()
    assign("toolhub-data")
    body = eyes.get("/tools/echo/").content.decode()
    assert '<a href="/personas/researcher/">researcher</a>' in body
    assert "with toolhub-data" in body


def test_a_description_is_text_and_never_markup(eyes: Client) -> None:
    manifest = {
        "name": "sly",
        "version": "1.0.0",
        "runtime": {"type": "builtin", "entry": "sly"},
        "tools": [
            {
                "name": "sly",
                "title": "<img src=x>",
                "description": "<script>alert(1)</script>",
                "inputSchema": {
                    "type": "object",
                    "properties": {"a": {"type": "string", "description": "<b>bold</b>"}},
                },
            }
        ],
    }
    release_publish(by=SYSTEM, manifest=manifest, files={})
    body = eyes.get("/tools/sly/").content.decode()
    assert "<script>alert" not in body
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in body
    assert "<b>bold</b>" not in body
    assert "<img src=x>" not in body


def test_a_withdrawn_version_is_shown_as_such(eyes: Client) -> None:
    ToolVersion.objects.filter(tool__name="echo").update(state=VersionState.YANKED)
    assert "withdrawn" in eyes.get("/tools/echo/").content.decode()


def test_a_tool_without_an_active_version_still_has_a_page(eyes: Client) -> None:
    Tool.objects.filter(name="echo").update(active=None)
    answer = eyes.get("/tools/echo/")
    assert answer.status_code == 200
    assert "No version is active" in answer.content.decode()


def test_who_can_call_a_tool_leads_back_to_it(eyes: Client) -> None:
    page = eyes.get("/tools/echo/callers/").content.decode()
    assert '<nav class="crumbs"' in page
    assert '<a href="/tools/echo/">echo</a>' in page


def test_models_that_take_a_tool_as_it_is_stand_on_one_line(eyes: Client) -> None:
    page = eyes.get("/tools/calculate/").content.decode()
    assert "openai, openai-strict, openai-responses" in page
    assert "<p></p>" not in page
