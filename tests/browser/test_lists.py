"""Lists and the pieces of pages, under a hand: columns, choice of rows, folding JSON, toasts."""

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_a_column_that_was_put_away_stays_away(page: Page, execute: Callable[..., httpx.Response]) -> None:
    execute("echo", {"text": "a"})
    page.goto("/runs/")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="Version").uncheck()
    head = page.get_by_role("columnheader", name="Version")
    expect(head).to_be_hidden()
    page.reload()
    expect(head).to_be_hidden()
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="Version").check()
    expect(head).to_be_visible()


def test_the_choice_of_columns_is_for_desks(page: Page) -> None:
    page.goto("/tools/")
    choice = page.get_by_text("Columns", exact=True)
    expect(choice).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(choice).to_be_hidden()


def test_an_order_is_changed_at_the_head_of_its_column(page: Page) -> None:
    page.goto("/tools/")
    first = page.locator("#list tbody td.name a").first
    before = first.text_content()
    page.get_by_role("columnheader", name="Tool").get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"sort=-name"))
    expect(first).not_to_have_text(before or "")


def test_what_is_chosen_can_be_acted_on_and_is_not_refreshed_away(
    page: Page, execute: Callable[..., httpx.Response]
) -> None:
    execute("echo", {"text": "a"})
    page.goto("/runs/")
    act = page.get_by_role("button", name="Cancel what still runs or waits")
    expect(act).to_be_hidden()
    page.get_by_label("Choose all").check()
    expect(act).to_be_visible()
    act.click()
    expect(page.get_by_text("None of the chosen runs can still be stopped")).to_be_visible()


def test_json_folds_and_keeps_its_text(page: Page) -> None:
    page.goto("/style/")
    code = page.get_by_label("a sample value", exact=True)
    text = code.text_content() or ""
    assert '"high": 21.5' in text
    expect(code.get_by_text('"rain": null')).not_to_be_visible()
    code.get_by_role("button", name="Object of 2").first.click()
    expect(code.get_by_text('"rain": null')).to_be_visible()
    code.get_by_role("button", name="List of 2").click()
    expect(code.get_by_text('"rain": null')).not_to_be_visible()
    assert (code.text_content() or "") == text


def test_a_toast_comes_and_is_spoken(page: Page) -> None:
    page.goto("/style/")
    page.get_by_role("button", name="Show one").click()
    expect(page.get_by_role("status").get_by_text("Switched on.")).to_be_visible()
