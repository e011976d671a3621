"""The command palette and the charts of the Overview."""

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenContext
from tests.browser.test_accessibility import faults

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_the_palette_goes_to_what_was_found_by_keyboard_alone(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search everything")
    expect(palette).to_be_visible()
    expect(palette.get_by_role("link", name="Runs")).to_be_visible()
    page.keyboard.type("calcul")
    expect(palette.get_by_role("link", name="calculate")).to_be_visible()
    expect(palette.get_by_role("link", name="Runs", exact=True)).to_be_hidden()
    page.keyboard.press("ArrowDown")
    expect(palette.get_by_role("link").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tools/calculate/")


def test_a_slash_searches_the_page_else_everything(page: Page) -> None:
    page.goto("/tools/")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Name of a tool or package")).to_be_focused()
    page.goto("/")
    page.keyboard.press("/")
    expect(page.get_by_role("dialog", name="Search everything")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_escape_closes_the_palette_also_with_words_in_it(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("ca")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_nothing_is_wrong_with_the_palette(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce", color_scheme="light")
    page.goto("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("e")
    expect(page.locator("#palette-found").get_by_role("link", name="echo")).to_be_visible()
    assert faults(page) == []


def test_the_charts_are_drawn_and_change_their_time(
    page: Page, execute: Callable[..., httpx.Response]
) -> None:
    execute("echo", {"text": "a"})
    page.goto("/")
    expect(page.locator("[data-chart] canvas")).to_have_count(2)
    # Without a pointer the newest step is told, and not two dashes.
    expect(page.locator("[data-chart=calls] .u-value").first).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d"))
    expect(page.locator("[data-chart=calls] .u-value").nth(2)).to_have_text(re.compile(r"^\d"))
    page.get_by_role("link", name="1 hour").click()
    expect(page.get_by_role("heading", name="Last 1 hour")).to_be_visible()
    expect(page.locator("[data-chart] canvas")).to_have_count(2)
    page.get_by_text("As a table").click()
    expect(page.get_by_role("table", name="Calls, errors and times taken")).to_be_visible()


def test_without_javascript_search_and_figures_are_pages(signed_in: OpenContext) -> None:
    context = signed_in(java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    page.get_by_role("link", name="Search").click()
    page.get_by_role("searchbox").fill("echo")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="echo data").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Echo")
    page.goto("/")
    page.get_by_role("link", name="Calls, errors and times taken").click()
    page.get_by_text("As a table").click()
    expect(page.get_by_role("columnheader", name="p95")).to_be_visible()
    context.close()
