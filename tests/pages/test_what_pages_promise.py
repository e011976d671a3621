"""What holds for every page: policy, titles, who may see it, no queries without bound."""

import re
from collections.abc import Callable

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from audit.models import Event
from core.templatetags import console, parts, tables
from execution.models import Run
from security.models import Persona

PAGES = {
    "/": "",
    "/tools/": "registry.view_tool",
    "/tools/echo/": "registry.view_tool",
    "/personas/": "security.view_persona",
    "/personas/new/": "security.add_persona",
    "/personas/researcher/": "security.view_persona",
    "/personas/researcher/switch/": "security.change_persona",
    "/policy/": "policy.view_restriction",
    "/policy/new/": "policy.add_restriction",
    "/policy/pause/?tool=echo": "policy.add_restriction",
    "/policy/capabilities/": "policy.view_capability",
    "/policy/matrix/": "policy.view_capability",
    "/policy/limits/": "policy.view_limit",
    "/policy/limits/new/?persona=researcher": "policy.add_limit",
    "/policy/tiers/": "policy.view_tier",
    "/policy/tiers/new/": "policy.add_tier",
    "/policy/flags/": "policy.view_flag",
    "/policy/flags/new/": "policy.add_flag",
    "/simulator/": "security.view_persona",
    "/simulator/?persona=researcher&tool=echo": "security.view_persona",
    "/tools/echo/callers/": "registry.view_tool security.view_persona",
    "/runs/": "execution.view_run",
    "/schedules/": "execution.view_schedule",
    "/schedules/new/": "execution.add_schedule",
    "/audit/": "audit.view_event",
    "/audit/{event}/": "audit.view_event",
    "/settings/": "security.view_user",
    "/settings/sandbox/": "security.view_user",
    "/settings/duties/": "duties.view_failedrow",
    "/people/": "security.view_user",
    "/people/admin/": "security.view_user",
    "/people/invite/": "security.add_user",
    "/people/admin/link/": "security.add_user",
    "/people/admin/leave/": "security.change_user",
    "/account/": "",
    "/approvals/": "execution.approve_run",
    "/settings/secrets/": "security.view_secret",
    "/settings/filters/": "security.view_outputpattern",
    "/settings/resources/": "preconditions.view_resource",
    "/sessions/": "memory.view_session",
    "/api/docs": "",
    "/account/password/": "",
}
QUERIES_MAX = 15
BYTES_MAX = 100_000


@pytest.fixture
def world(persona: Persona, assign: Callable[[str], None], call: Callable[..., object]) -> Run:
    """A persona that has called echo often enough for more than one page."""
    assign("toolhub-data")
    for number in range(30):
        call("echo", {"text": f"call {number}"})
    return Run.objects.latest("pk")


def at(page: str) -> str:
    """The page's address, with the number of the ledger's last event where it wants one."""
    return page.format(event=Event.objects.latest("pk").pk)


def test_a_page_is_whole_small_and_cheap_and_has_no_inline_script_or_style(
    world: Run, eyes: Client, subtests: pytest.Subtests, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for page in PAGES:
        # Each as the first one that the admin looks at.
        with subtests.test(page), transaction.atomic():
            address = at(page)
            cache.clear()
            with django_assert_max_num_queries(QUERIES_MAX):
                answer = eyes.get(address)
            transaction.set_rollback(True)
            body = answer.content.decode()
            assert answer.status_code == 200
            assert len(answer.content) <= BYTES_MAX
            assert re.search(r"<title>\s*\S.*?· ToolHub\s*</title>", body, re.DOTALL)
            assert body.count("<h1") == 1
            assert '<main id="main"' in body
            assert not re.search(r"<script(?![^>]*\bsrc=)", body)
            assert not re.search(r"<style|\sstyle=|\son[a-z]+=", body)
            policy = answer["Content-Security-Policy"]
            assert "default-src 'self'" in policy
            assert "unsafe" not in policy


def test_a_run_page_is_whole_small_and_cheap(
    world: Run, eyes: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(QUERIES_MAX):
        answer = eyes.get(f"/runs/{world.pk}/")
    assert answer.status_code == 200
    assert len(answer.content) <= BYTES_MAX


def test_without_its_permission_a_page_does_not_exist(
    world: Run, eyes_with: Callable[..., Client], subtests: pytest.Subtests
) -> None:
    stranger = eyes_with()
    for page, permission in PAGES.items():
        if permission:
            with subtests.test(page):
                address = at(page)
                assert stranger.get(address).status_code == 404
                assert eyes_with(*permission.split()).get(address).status_code == 200


def test_a_run_without_the_permission_does_not_exist(world: Run, eyes_with: Callable[..., Client]) -> None:
    assert eyes_with().get(f"/runs/{world.pk}/").status_code == 404
    assert eyes_with("execution.view_run").get(f"/runs/{world.pk}/").status_code == 200


def test_the_navigation_names_only_what_may_be_seen(world: Run, eyes_with: Callable[..., Client]) -> None:
    body = eyes_with("registry.view_tool").get("/tools/").content.decode()
    assert 'href="/tools/"' in body
    assert 'href="/audit/"' not in body
    assert 'href="/personas/"' not in body


def test_htmx_gets_the_part_alone_of_the_same_address(
    world: Run, eyes: Client, subtests: pytest.Subtests
) -> None:
    for page in ("/", "/tools/", "/personas/", "/runs/", "/audit/"):
        with subtests.test(page):
            whole, part = eyes.get(page), eyes.get(page, headers={"HX-Request": "true"})
            assert "<html" not in part.content.decode()
            assert 'id="list"' in part.content.decode() or 'id="live"' in part.content.decode()
            assert "HX-Request" in whole["Vary"]
            assert "no-store" in whole["Cache-Control"]


@pytest.mark.django_db
def test_htmx_of_a_session_that_ended_reloads_the_page(client: Client) -> None:
    answer = client.get("/runs/", headers={"HX-Request": "true"})
    assert answer["HX-Refresh"] == "true"


@pytest.mark.parametrize("page", ["/nothing/", "/tools/no_such_tool/", "/personas/nobody/", "/audit/999999/"])
def test_what_is_not_there_says_so_in_the_look(eyes: Client, page: str) -> None:
    answer = eyes.get(page)
    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("/account/theme/", "POST"),
        ("/schedules/new/", "GET, POST, HEAD, OPTIONS"),
        ("/tools/", "GET, HEAD, OPTIONS"),
    ],
)
def test_a_method_that_an_address_does_not_take_is_answered_in_the_look(
    eyes: Client, address: str, allowed: str
) -> None:
    answer = eyes.delete(address)
    assert (answer.status_code, answer["Allow"]) == (405, allowed)
    assert "This address is not a page" in answer.content.decode()


@pytest.mark.parametrize(
    ("address", "chip", "without"),
    [
        ("/tools/?q=e&package=toolhub-data", "package toolhub-data", "/tools/?q=e"),
        ("/audit/?subject_kind=persona&subject_id=7", "subject id 7", "/audit/?subject_kind=persona"),
    ],
)
def test_a_filter_that_a_link_brought_is_shown_and_can_be_taken_away(
    eyes: Client, address: str, chip: str, without: str
) -> None:
    body = eyes.get(address).content.decode()
    assert re.search(rf'<a class="chip" href="{re.escape(without)}">\s*{chip}', body)


@pytest.mark.django_db
def test_a_stranger_gets_the_same_page_for_what_is_not_there(client: Client) -> None:
    answer = client.get("/nothing/")
    assert answer.status_code == 404
    assert "Sign in" in answer.content.decode()


def test_a_form_without_its_proof_of_origin_changes_nothing(
    admin: object, nothing_recorded: Callable[[], None]
) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(admin)  # type: ignore[arg-type]
    assert strict.post("/personas/new/", {"name": "sneaky"}).status_code == 403
    nothing_recorded()


@pytest.mark.django_db
def test_every_error_code_has_its_anchor_for_everybody(client: Client) -> None:
    body = client.get("/api/docs/errors").content.decode()
    assert 'id="CAPABILITY_MISSING"' in body
    assert 'id="NOT_JSON"' in body


def test_the_description_of_the_api_is_for_callers_and_people(
    client: Client, eyes: Client, token_text: str
) -> None:
    assert client.get("/api/openapi.json").status_code == 401
    assert eyes.get("/api/openapi.json").status_code == 200
    as_agent = client.get("/api/openapi.json", headers={"Authorization": f"Bearer {token_text}"})
    assert b"/api/v1/tools/{name}/execute" in as_agent.content


def written(markup: str) -> set[str]:
    """The templates in which such markup is written out."""
    folder = settings.ROOT / "templates"
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*.html")
        if re.search(markup, path.read_text(encoding="utf-8"))
    }


def test_tables_are_made_by_their_tag() -> None:
    assert written("<(table|thead|caption)") == set()


def test_heads_of_pages_are_made_by_their_tag() -> None:
    assert written(r'page-title|class="head"|components/crumbs\.html" with') == {"components/page_head.html"}


def test_cards_with_a_title_are_made_by_their_tag() -> None:
    """Save what is more than a card: a form, and calls between which the keys j and k move."""
    more = {"execution/tool_try.html", "execution/approval.html", "execution/approvals.html"}
    assert written("card-header|card-title") == more


def test_every_component_is_shown_on_its_page() -> None:
    page = (settings.ROOT / "templates" / "core" / "style.html").read_text(encoding="utf-8")
    components = {path.name for path in (settings.ROOT / "templates" / "components").glob("*.html")}
    tags = {name for library in (console, parts, tables) for name in library.register.tags}
    shown = {name for name in components if f"components/{name}" in page}
    assert components - shown == set()
    assert {name for name in tags if not re.search(rf"\b{name}\b", page)} == set()
