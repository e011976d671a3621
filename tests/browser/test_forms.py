"""How forms, pickers and questions behave under a hand on the keyboard."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenContext

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
    expect(page.locator("#list").get_by_role("link", name="calculate")).to_be_visible()
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
