"""The search over everything."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from core.context import PAGES
from execution.engine.requests import CallRequest
from execution.entry.tries.services import run_try
from execution.models import Run
from security.models import Persona, User
from tests.pages.conftest import Eyes


def found(eyes: Client, text: str) -> dict[str, list[str]]:
    """The names that are found, by kind."""
    groups = eyes.get("/search/", {"q": text}).context["groups"]
    return {group.title: [one.name for one in group.found] for group in groups}


@pytest.fixture
def run(persona: Persona, assign: Callable[[str], None], admin: User) -> Run:
    assign("toolhub-data")
    return run_try(by=admin, persona=persona, tool="echo", request=CallRequest(arguments={"text": "hi"}))


def test_tools_packages_personas_and_pages_are_found(eyes: Client, run: Run) -> None:
    tools = found(eyes, "TOOL")
    assert tools["Pages"] == ["Tools"]
    assert "toolhub-data" in tools["Packages"]
    assert found(eyes, "search")["Personas"] == ["researcher"]
    assert found(eyes, "ech") == {"Tools": ["echo"]}


def test_what_begins_with_the_text_comes_first(eyes: Client, run: Run) -> None:
    names = found(eyes, "json")["Tools"]
    assert names[0].startswith("json")
    assert found(eyes, "echo")["Tools"][0] == "echo"


def test_of_many_pages_the_first_few_are_shown_so_that_tools_stay_in_sight(eyes: Client, run: Run) -> None:
    pages = found(eyes, "e")["Pages"]
    assert len(pages) == 6
    assert pages[0] == "Error codes"
    assert len(found(eyes, "")["Pages"]) > 6


def test_a_run_is_found_by_its_id_and_by_the_beginning_of_it(eyes: Client, run: Run) -> None:
    whole = str(run.pk)
    assert found(eyes, whole)["Runs"] == [whole]
    assert found(eyes, whole[:13])["Runs"] == [whole]
    assert found(eyes, whole.replace("-", "").upper())["Runs"] == [whole]
    assert found(eyes, "echo")["Runs"] == ["Runs of echo"]


@pytest.mark.parametrize("text", ["", "%", "'; --", "zzzzzzzz", "x" * 500, "0000000g", "\x01", "-" * 40])
def test_what_holds_nothing_finds_no_rows(eyes: Client, run: Run, text: str) -> None:
    assert set(found(eyes, text)) <= {"Pages"}


def test_nobody_finds_what_they_may_not_see(eyes_with: Eyes, run: Run) -> None:
    looking = eyes_with("registry.view_tool")
    assert set(found(looking, "echo")) == {"Tools"}
    assert found(looking, str(run.pk)) == {}
    assert found(looking, "researcher") == {}
    assert "Personas" not in str(found(looking, ""))
    assert set(found(eyes_with("execution.view_run"), "echo")) == {"Runs"}


def test_the_palette_gets_the_results_alone(eyes: Client, run: Run) -> None:
    part = eyes.get("/search/?q=echo", headers={"HX-Request": "true"}).content.decode()
    assert "/tools/echo/" in part
    assert "<html" not in part


def test_strangers_are_asked_who_they_are(client: Client, db: None) -> None:
    assert client.get("/search/?q=echo")["Location"].startswith("/sign-in/")


def test_every_page_of_the_palette_is_there_and_found_by_its_title(eyes: Client, published: None) -> None:
    for page in PAGES:
        assert page.title in found(eyes, page.title)["Pages"]
        assert eyes.get(reverse(page.url_name)).status_code == 200, page.title


def test_the_palette_leads_nobody_to_pages_that_are_not_there(eyes_with: Eyes, published: None) -> None:
    viewer = eyes_with("security.view_persona")
    assert found(viewer, "new persona") == {}
    assert found(viewer, "simul") == {"Pages": ["Simulator"]}
    for page in PAGES:
        status = viewer.get(reverse(page.url_name)).status_code
        assert (status == 200) is (page.title in found(viewer, page.title).get("Pages", [])), page.title


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("/", "Overview"),
        ("/overview/charts/", "Overview"),
        ("/sharing/tool/echo/", "Tools"),
        ("/sharing/package/toolhub-data/", "Packages"),
        ("/sharing/persona/researcher/", "Personas"),
        ("/simulator/", "Personas"),
        ("/installations/", "Packages"),
        ("/policy/limits/", "Policy"),
        ("/teams/", "Settings"),
        ("/people/admin/", "Settings"),
        ("/settings/sign-in/", "Settings"),
    ],
)
def test_the_menu_marks_where_a_page_belongs(
    eyes: Client, persona: Persona, published: None, address: str, place: str
) -> None:
    navigation = eyes.get(address).context["navigation"]
    assert [entry["item"].title for entry in navigation if entry["current"]] == [place]
