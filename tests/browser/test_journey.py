"""What a person does in the console, from signing in to the audited call, in a real browser."""

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Hub, OpenContext

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
Execute = Callable[..., httpx.Response]


def test_from_a_new_persona_to_its_audited_call(page: Page, execute: Execute) -> None:
    page.goto("/")
    page.keyboard.press("g")
    page.keyboard.press("p")
    page.get_by_role("link", name="New persona").click()
    page.get_by_label("Name").fill("explorer")
    page.get_by_role("button", name="Make the persona").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("explorer")
    expect(page.get_by_text("It sees no tool")).to_be_visible()

    page.get_by_label("Tool, package or collection").fill("echo")
    page.get_by_role("button", name="Assign").click()
    expect(page.get_by_text("echo is assigned: by name.")).to_be_visible()

    page.get_by_label("Used for").fill("the journey")
    page.get_by_role("button", name="Make the token").click()
    text = re.search(r"thp_[A-Za-z0-9_-]{43}", page.content())
    assert text
    answer = execute("echo", {"text": "Grüße"}, by=text.group())
    assert answer.status_code == 200, answer.text
    run_id = answer.json()["metadata"]["run_id"]

    page.goto("/runs/?persona=explorer")
    page.get_by_role("link", name=re.compile(run_id[-8:])).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("echo")
    assert "Grüße" in page.content()
    page.get_by_role("link", name="run.outcome").click()
    expect(page.get_by_text("fits the one on record")).to_be_visible()
    assert answer.json()["metadata"]["audit_leaf"] in page.content()


def test_a_token_is_revoked_in_a_dialog_that_can_be_left(page: Page, execute: Execute) -> None:
    page.goto("/personas/demo/")
    page.get_by_text("Make a token").click()
    page.get_by_label("Used for").fill("to be revoked")
    page.get_by_role("button", name="Make the token").click()
    found = re.search(r"thp_[A-Za-z0-9_-]{43}", page.content())
    assert found
    text = found.group()
    page.get_by_role("link", name="I have copied it").click()

    revoke = page.get_by_role("link", name=f"Revoke {text[:12]}")
    revoke.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("to be revoked")
    dialog.get_by_role("link", name="Cancel").click()
    expect(dialog).to_be_hidden()
    assert execute("echo", {"text": "still"}, by=text).status_code == 200

    revoke.click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke it").click()
    expect(page.get_by_role("status").get_by_text("is revoked")).to_be_visible()
    assert execute("echo", {"text": "no more"}, by=text).status_code == 401


def test_the_list_of_runs_follows_what_happens(page: Page, execute: Execute) -> None:
    page.goto("/runs/?tool=hash")
    rows = page.locator("#list tbody tr")
    before = rows.count()
    assert execute("hash", {"text": "abc"}).status_code == 200
    expect(rows).to_have_count(before + 1)


def test_filters_change_list_and_address_without_a_new_page(page: Page, execute: Execute) -> None:
    execute("echo", {"text": "one"})
    page.goto("/runs/")
    page.evaluate("document.body.dataset.mark = 'same page'")
    page.get_by_label("Status").select_option("failed")
    page.wait_for_url("**/runs/?status=failed")
    page.get_by_label("Id, tool or persona").fill("nothing has this name")
    expect(page.get_by_text("No run fits")).to_be_visible()
    assert page.evaluate("document.body.dataset.mark") == "same page"
    page.reload()
    expect(page.get_by_text("No run fits")).to_be_visible()


def test_the_picker_searches_while_one_types(page: Page) -> None:
    page.goto("/personas/demo/")
    page.get_by_label("Tool, package or collection").press_sequentially("current")
    expect(page.locator("#assignable option")).to_have_count(1)
    expect(page.locator("#assignable option").first).to_have_attribute("value", "current_time")


def test_the_keyboard_searches_goes_places_and_helps(page: Page) -> None:
    page.goto("/tools/")
    page.keyboard.press("/")
    expect(page.get_by_label("Name of a tool or package")).to_be_focused()
    page.keyboard.type("gr")
    expect(page.get_by_label("Name of a tool or package")).to_have_value("gr")
    page.goto("/tools/")
    for key, address in (("r", "/runs/"), ("a", "/audit/"), ("t", "/tools/"), ("o", "/")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(re.compile(rf"//[^/]+{address}$"))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Search on this page")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_an_id_is_copied_whole(signed_in: OpenContext, execute: Execute) -> None:
    run_id = execute("echo", {"text": "copy me"}).json()["metadata"]["run_id"]
    context = signed_in(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"/runs/{run_id}/")
    page.get_by_role("button", name="Copy run id").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == run_id
    context.close()


def test_times_are_local_and_exact_on_hover(signed_in: OpenContext, execute: Execute) -> None:
    run_id = execute("echo", {"text": "what time"}).json()["metadata"]["run_id"]
    context = signed_in(timezone_id="Asia/Kathmandu", locale="en-GB")
    page = context.new_page()
    page.goto(f"/runs/{run_id}/")
    made = page.locator("time[data-time=full]").first
    expect(made).to_have_attribute("title", re.compile(r"GMT\+5:45 \(.*\+00:00\)"))
    context.close()


def test_times_have_24_hours_and_those_that_are_entered_are_told_on_the_readers_clock(
    signed_in: OpenContext, execute: Execute
) -> None:
    run_id = execute("echo", {"text": "what time"}).json()["metadata"]["run_id"]
    context = signed_in(timezone_id="Asia/Kathmandu", locale="en-US")
    page = context.new_page()
    page.goto(f"/runs/{run_id}/")
    expect(page.locator("time[data-time=full]").first).to_have_text(re.compile(r"\d\d:\d\d:\d\d$"))
    page.goto("/policy/pause/")
    page.get_by_label("Ends (UTC)").fill("2031-05-06T20:30")
    expect(page.get_by_text("May 7, 2031, 02:15:00 where you are.")).to_be_visible()
    context.close()


def test_the_theme_changes_at_once_and_stays(page: Page) -> None:
    page.goto("/")
    page.locator(".account summary").click()
    page.get_by_role("button", name="dark").click()
    root = page.locator("html")
    expect(root).to_have_attribute("data-bs-theme", "dark")
    page.reload()
    expect(root).to_have_attribute("data-bs-theme", "dark")


def test_auto_follows_the_system(signed_in: OpenContext) -> None:
    for scheme in ("dark", "light"):
        context = signed_in(color_scheme=scheme)
        page = context.new_page()
        page.goto("/")
        expect(page.locator("html")).to_have_attribute("data-bs-theme", scheme)
        context.close()


def test_everything_works_without_javascript(signed_in: OpenContext, execute: Execute) -> None:
    for number in range(27):
        execute("echo", {"text": f"page {number}"})
    context = signed_in(java_script_enabled=False)
    page = context.new_page()
    page.goto("/runs/")
    page.get_by_role("link", name="Older").click()
    expect(page.get_by_role("link", name="Newer")).to_be_visible()
    page.goto("/runs/")
    page.get_by_label("Tool, whole name").fill("echo")
    page.get_by_role("button", name="Filter").click()
    assert "tool=echo" in page.url
    page.goto("/personas/demo/")
    page.get_by_role("link", name="Switch off").click()
    expect(page.get_by_role("heading", name="Switch demo off?")).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    assert page.url.endswith("/personas/demo/")
    page.locator(".account summary").click()
    page.get_by_role("button", name="dark").click()
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    context.close()


def test_a_wrong_password_stays_at_the_door(chromium: Browser, hub: Hub) -> None:
    context = chromium.new_context(base_url=hub.url)
    page = context.new_page()
    page.goto("/tools/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.goto("/tools/")
    assert "/sign-in/" in page.url
    context.close()
