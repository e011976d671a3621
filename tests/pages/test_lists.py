"""What lists have in common: order, choice of rows, and the page of components."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from execution.engine.requests import CallRequest
from execution.entry.tries.services import run_try
from execution.models import Run, Status
from security.models import Persona, User
from tests.pages.conftest import Eyes


@pytest.fixture
def runs(persona: Persona, assign: Callable[[str], None], admin: User) -> list[Run]:
    """Three runs that wait, oldest first."""
    assign("toolhub-data")
    request = CallRequest(arguments={"text": "hi"})
    return [run_try(by=admin, persona=persona, tool="echo", request=request) for _ in range(3)]


def listed(eyes: Client, query: str) -> list[Any]:
    return [row.pk for row in eyes.get(f"/runs/{query}").context["page"].rows]


def test_a_list_is_turned_round_and_paged_in_its_order(eyes: Client, runs: list[Run]) -> None:
    oldest_first = [run.pk for run in runs]
    assert listed(eyes, "") == oldest_first[::-1]
    assert listed(eyes, "?sort=-made") == oldest_first[::-1]
    assert listed(eyes, "?sort=made") == oldest_first
    assert listed(eyes, f"?sort=made&after={oldest_first[0]}") == oldest_first[1:]
    assert listed(eyes, f"?sort=made&before={oldest_first[2]}") == oldest_first[:2]
    assert eyes.get("/runs/?sort=made").context["ways"] == ("Older", "Newer")


@pytest.mark.parametrize("query", ["?sort=nothing", "?sort=", "?sort=arguments", "?sort=--made"])
def test_an_order_that_there_is_not_is_the_lists_own(eyes: Client, runs: list[Run], query: str) -> None:
    assert listed(eyes, query) == [run.pk for run in runs][::-1]


def test_names_are_turned_round(eyes: Client, published: None) -> None:
    names = [tool.name for tool in eyes.get("/tools/?sort=-name").context["page"].rows]
    assert names == sorted(names, reverse=True)
    assert 'aria-sort="descending"' in eyes.get("/tools/?sort=-name").content.decode()


def test_several_runs_are_cancelled_after_a_question_that_names_them(eyes: Client, runs: list[Run]) -> None:
    query = f"?pick={runs[0].pk}&pick={runs[2].pk}&pick=nonsense"
    asked = eyes.get(f"/runs/cancel/{query}")
    assert asked.content.decode().count("echo by researcher, pending now.") == 2
    assert Run.objects.filter(status=Status.PENDING).count() == 3
    answer = eyes.post("/runs/cancel/", asked.context["question"].hidden, follow=True)
    assert "2 runs were asked to stop." in answer.content.decode()
    assert [run.status for run in Run.objects.order_by("pk")] == ["cancelled", "pending", "cancelled"]
    assert Event.objects.filter(kind="run.cancel_asked").count() == 2


def test_nothing_chosen_changes_nothing(eyes: Client, runs: list[Run]) -> None:
    page = eyes.get("/runs/cancel/", follow=True).content.decode()
    assert "nothing was changed" in page
    assert "0 runs were asked to stop." in eyes.post("/runs/cancel/", follow=True).content.decode()
    assert Run.objects.filter(status=Status.PENDING).count() == 3


def test_who_may_not_change_runs_chooses_none(eyes_with: Eyes, runs: list[Run]) -> None:
    looking = eyes_with("execution.view_run")
    assert "data-pick" not in looking.get("/runs/").content.decode()
    assert looking.get(f"/runs/cancel/?pick={runs[0].pk}").status_code == 404
    assert looking.post("/runs/cancel/", {"picked": str(runs[0].pk)}).status_code == 404
    assert Run.objects.filter(status=Status.PENDING).count() == 3


def test_the_page_of_components_is_for_development(eyes: Client, settings: Any) -> None:
    assert eyes.get("/style/").status_code == 404
    settings.STYLE_PAGE = True
    assert "Components" in eyes.get("/style/").content.decode()


def test_all_that_match_are_cancelled_after_a_question_with_their_number(
    eyes: Client, runs: list[Run], persona: Persona
) -> None:
    Run.objects.filter(pk=runs[0].pk).update(session="other")
    page = eyes.get("/runs/?session=other&tool=echo").content.decode()
    assert "Cancel all that match…" in page
    assert 'href="/runs/cancel/all/?tool=echo&amp;session=other"' in page
    asked = eyes.get("/runs/cancel/all/?tool=echo&session=other")
    assert asked.context["question"].title == "Cancel 1 run?"
    assert "Tool: echo" in asked.content.decode()
    assert Run.objects.filter(status=Status.PENDING).count() == 3
    answer = eyes.post("/runs/cancel/all/", asked.context["question"].hidden, follow=True)
    assert "1 run was asked to stop." in answer.content.decode()
    assert answer.redirect_chain[-1][0] == "/runs/?tool=echo&session=other"
    assert [run.status for run in Run.objects.order_by("pk")] == ["cancelled", "pending", "pending"]
    everything = eyes.get("/runs/cancel/all/").context["question"]
    assert everything.touched[0] == "No filter is set: every run that you may cancel matches."
    eyes.post("/runs/cancel/all/", everything.hidden)
    assert not Run.objects.filter(status=Status.PENDING).exists()
    assert "nothing was changed" in eyes.get("/runs/cancel/all/", follow=True).content.decode()


def test_who_may_not_change_runs_cancels_none_that_match(eyes_with: Eyes, runs: list[Run]) -> None:
    looking = eyes_with("execution.view_run")
    assert "Cancel all that match" not in looking.get("/runs/").content.decode()
    assert looking.get("/runs/cancel/all/").status_code == 404
    assert looking.post("/runs/cancel/all/").status_code == 404
    assert Run.objects.filter(status=Status.PENDING).count() == 3
