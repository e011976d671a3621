"""How forms, pickers and questions behave under a hand on the keyboard."""

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Hub, OpenContext

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_the_focus_goes_to_the_first_field_that_is_wrong(signed_in: OpenContext) -> None:
    context = signed_in()
    page = context.new_page()
    page.goto("/schedules/new/")
    page.get_by_label("Name", exact=True).fill("Every morning")
    page.get_by_role("button", name="Make the schedule").click()
    field = page.get_by_label("Persona")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description("Under whose rights it runs. This field is required.")
    context.close()


def test_a_form_of_the_persona_comes_back_open_and_in_sight(signed_in: OpenContext) -> None:
    context = signed_in(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto("/personas/demo/")
    grant = page.locator("details", has_text="Grant a capability")
    if grant.get_attribute("open") is None:
        grant.locator("summary").click()
    page.get_by_role("button", name="Grant", exact=True).click()
    expect(page.get_by_label("Capability")).to_be_focused()
    expect(page.get_by_label("Capability")).to_be_in_viewport()
    context.close()


def test_the_pickers_of_a_schedule_propose_what_there_is(page: Page) -> None:
    page.goto("/schedules/new/?tool=echo")
    expect(page.get_by_label("Tool")).to_have_value("echo")
    page.get_by_label("Persona").focus()
    expect(page.locator("#persona-options option[value=demo]")).to_have_count(1)
    page.get_by_label("Time zone").fill("")
    page.get_by_label("Time zone").press_sequentially("kathm")
    expect(page.locator("#time_zone-options option")).to_have_count(1)


def test_a_question_that_destroys_has_the_focus_on_leaving_it(page: Page) -> None:
    page.goto("/personas/demo/")
    page.get_by_role("link", name="Switch off").click()
    expect(page.get_by_role("dialog").get_by_role("link", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_paging_within_a_page_changes_the_list_alone(page: Page) -> None:
    page.goto("/personas/demo/?after=calculate")
    page.get_by_role("link", name="Back", exact=True).click()
    expect(page.locator("#list").get_by_role("link", name="calculate", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.locator("#list")).to_have_count(1)


def test_clear_is_offered_as_soon_as_a_list_is_narrowed(page: Page) -> None:
    page.goto("/runs/")
    clear = page.get_by_role("link", name="Clear")
    expect(clear).to_be_hidden()
    page.get_by_label("Status").select_option("failed")
    expect(clear).to_be_visible()
    clear.click()
    page.wait_for_url("**/runs/")
    expect(clear).to_be_hidden()


def test_simple_forms_are_sent_without_javascript(signed_in: OpenContext, hub: Hub) -> None:
    """From a new persona to its call, a call by hand, and a collection that is filled and emptied."""
    context = signed_in(java_script_enabled=False)
    page = context.new_page()
    page.goto("/personas/new/")
    page.get_by_label("Name", exact=True).fill("plain")
    page.get_by_role("button", name="Make the persona").click()
    page.get_by_label("Tool, package or collection").fill("echo")
    page.get_by_role("button", name="Assign").click()
    page.get_by_text("Grant a capability").click()
    page.get_by_label("Capability", exact=True).fill("file:read")
    page.get_by_label("Reason").first.fill("It reads.")
    page.get_by_role("button", name="Grant", exact=True).click()
    expect(page.locator("section", has=page.locator("#grants"))).to_contain_text("It reads.")
    page.get_by_label("Used for").fill("plain calls")
    page.get_by_role("button", name="Make the token").click()
    token = re.search(r"thp_[A-Za-z0-9_-]{43}", page.content())
    assert token
    answer = httpx.post(
        f"{hub.url}/api/v1/tools/echo/execute",
        json={"arguments": {"text": "by a token"}},
        headers={"Authorization": f"Bearer {token.group()}"},
        timeout=30,
    )
    assert answer.json()["data"] == {"text": "by a token"}

    page.goto("/tools/echo/try/")
    page.get_by_label("As persona").fill("plain")
    page.get_by_label("Arguments", exact=True).fill('{"text": "by hand"}')
    page.get_by_role("button", name="Run it").click()
    expect(page.locator("#tried")).to_contain_text("by hand")
    page.get_by_label("Arguments", exact=True).fill('{"text": 1}')
    page.get_by_role("button", name="Run it").click()
    expect(page.locator("#tried")).to_contain_text("/arguments/text")

    page.goto("/collections/new/")
    page.get_by_label("Name", exact=True).fill("plain-set")
    page.get_by_role("button", name="Make the collection").click()
    page.get_by_text("Add tools").click()
    page.locator("form[action*=tools] input:visible").fill("echo")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("link", name="Take out echo").click()
    page.get_by_role("button", name="Take").click()
    expect(page.get_by_text("No tools in it")).to_be_visible()
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Collections")).to_be_visible()
    context.close()
