"""The first page."""

from collections.abc import Callable
from typing import Any

from django.test import Client

from execution.models import Run
from security.models import Persona

Call = Callable[..., Any]


def figures(eyes: Client) -> dict[str, int]:
    """The numbers by their titles."""
    return {figure.title: figure.count for figure in eyes.get("/").context["figures"]}


def test_a_new_hub_shows_the_way_to_the_first_call(eyes: Client, published: None) -> None:
    steps = eyes.get("/").context["steps"]
    assert [step.done for step in steps] == [True, False, False, False, False]
    assert "/api/v1/tools/echo/execute" in eyes.get("/").content.decode()


def test_the_checklist_follows_what_is_done(
    eyes: Client, persona: Persona, assign: Callable[[str], None], token_text: str
) -> None:
    assign("echo")
    assert [step.done for step in eyes.get("/").context["steps"]] == [True, True, True, True, False]


def test_after_the_first_completed_run_the_checklist_is_gone(
    eyes: Client, assign: Callable[[str], None], call: Call
) -> None:
    assign("echo")
    call("echo", {"text": "done"})
    assert "steps" not in eyes.get("/").context


def test_every_number_is_the_length_of_the_list_it_links_to(
    eyes: Client, assign: Callable[[str], None], call: Call
) -> None:
    assign("toolhub-data")
    call("echo", {"text": "fine"})
    call("json_parse", {"text": "{"})
    call("json_parse", {"text": "["})
    call("echo", {"text": "later"}, HTTP_PREFER="respond-async")
    assert figures(eyes) == {
        "Outcome unknown": 0,
        "Failed, 24 h": 2,
        "Waiting": 1,
        "Running": 0,
        "Completed, 24 h": 1,
    }
    for figure in eyes.get("/").context["figures"]:
        assert len(eyes.get(f"/runs/?{figure.query}").context["page"].rows) == figure.count


def test_the_busiest_tools_count_runs_and_failures(
    eyes: Client, assign: Callable[[str], None], call: Call
) -> None:
    assign("toolhub-data")
    call("echo", {"text": "fine"})
    call("json_parse", {"text": "{}"})
    call("json_parse", {"text": "{"})
    rows = [(row["tool"], row["total"], row["unsuccessful"]) for row in eyes.get("/").context["busiest"]]
    assert rows == [("json_parse", 2, 1), ("echo", 1, 0)]


def test_the_latest_runs_are_shown(eyes: Client, assign: Callable[[str], None], call: Call) -> None:
    assign("echo")
    call("echo", {"text": "one"})
    assert f'href="/runs/{Run.objects.get().pk}/"' in eyes.get("/").content.decode()


def test_who_may_see_no_runs_is_told_so(eyes_with: Callable[..., Client], published: None) -> None:
    body = eyes_with().get("/").content.decode()
    assert "You may not see runs" in body
