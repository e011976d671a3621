"""Pages on paper, and the console without a mouse, without motion."""

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Hub, OpenContext

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
Execute = Callable[..., httpx.Response]
# A4 at 96 dots per inch, less margins of 1 cm.
PAPER = {"width": 718, "height": 1047}
# What a screen alone needs, and what would be cut off at the edge of the paper.
NOT_FOR_PAPER = ".side, .skip, .filters, .tabs, .paging, .copy, .btn, .toasts, dialog"
SEEN = "(all) => all.filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 80))"
CUT_OFF = """[...document.querySelectorAll("main *")].filter((one) => one.checkVisibility()
  && (one.getBoundingClientRect().right > innerWidth + 1
    || (one.scrollHeight > one.clientHeight + 1 && ["auto", "scroll"].includes(getComputedStyle(one).overflowY))
    || (one.scrollWidth > one.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(one).overflowX)))
).map((one) => one.outerHTML.slice(0, 80))"""
LONGEST_MS = """Math.max(...[...document.querySelectorAll("*")].flatMap((one) => {
  const style = getComputedStyle(one);
  return `${style.transitionDuration}, ${style.animationDuration}`.split(",").map(
    (one) => parseFloat(one) * (one.trim().endsWith("ms") ? 1 : 1000));
}))"""


def on_paper(page: Page) -> None:
    """The page as it is printed."""
    page.set_viewport_size(PAPER)  # type: ignore[arg-type]
    page.emulate_media(media="print", color_scheme="light")


def test_a_run_is_whole_on_paper(page: Page, execute: Execute) -> None:
    word = "x" * 2_000
    lines = "\n".join(f"line {number}" for number in range(200))
    run = execute("echo", {"text": f"{word} {lines}"}).json()["metadata"]["run_id"]
    page.goto(f"/runs/{run}/")
    on_paper(page)
    assert page.locator(NOT_FOR_PAPER).evaluate_all(SEEN) == []
    assert page.evaluate(CUT_OFF) == []
    # The end of a long value stands there, and ids and times are whole.
    expect(page.get_by_text("line 199").first).to_be_visible()
    written = page.evaluate("getComputedStyle(document.querySelector('.head-id[title]'), '::after').content")
    assert written == f'"{run}"'
    written = page.evaluate("getComputedStyle(document.querySelector('time[data-time]'), '::after').content")
    assert re.fullmatch(r'"\d{4}-\d\d-\d\dT.*\+00:00"', written)


def test_an_event_of_the_audit_is_whole_on_paper(page: Page, execute: Execute) -> None:
    execute("echo", {"text": "to be proved"})
    page.goto("/audit/?kind=run.outcome")
    page.locator(".rows td a").first.click()
    expect(page.get_by_text("fits the one on record")).to_be_visible()
    on_paper(page)
    assert page.locator(NOT_FOR_PAPER).evaluate_all(SEEN) == []
    assert page.evaluate(CUT_OFF) == []
    expect(page.get_by_role("heading", name="Canonical text")).to_be_visible()


def test_the_audit_list_fits_on_paper(page: Page, execute: Execute) -> None:
    execute("echo", {"text": "a"})
    page.goto("/audit/")
    on_paper(page)
    assert page.locator(NOT_FOR_PAPER).evaluate_all(SEEN) == []
    assert page.evaluate(CUT_OFF) == []


def tab_to(page: Page, role: str, name: str) -> None:
    """Goes on by Tab until what has this role and name is focused, and shows that it is."""
    wanted = page.get_by_role(role, name=name, exact=True).first  # type: ignore[arg-type]
    for _ in range(80):
        page.keyboard.press("Tab")
        if wanted.count() and wanted.evaluate("(one) => one === document.activeElement"):
            drawn = wanted.evaluate(
                "(one) => { const s = getComputedStyle(one); return s.outlineStyle !== 'none' || s.boxShadow !== 'none' }"
            )
            assert drawn, f"{name} does not show that it is focused"
            return
    raise AssertionError(f"Tab does not come to the {role} {name}")


def test_a_tool_is_tried_and_its_run_read_without_a_mouse(chromium: Browser, hub: Hub) -> None:
    context = chromium.new_context(base_url=hub.url)
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.goto("/sign-in/")
    tab_to(page, "textbox", "Username")
    page.keyboard.type("admin")
    page.keyboard.press("Tab")
    page.keyboard.type(hub.password)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{hub.url}/")

    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/tools/")
    tab_to(page, "link", "Skip to the content")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("ech")
    expect(page.get_by_role("link", name="hash", exact=True)).to_be_hidden()
    tab_to(page, "link", "echo")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tools/echo/")
    tab_to(page, "link", "Try it")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tools/echo/try/")
    tab_to(page, "combobox", "As persona")
    page.keyboard.type("demo")
    tab_to(page, "textbox", "text")
    page.keyboard.press("Control+a")
    page.keyboard.type("by keys alone")
    tab_to(page, "button", "Run it")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    expect(page.locator("#tried")).to_contain_text("completed")

    page.keyboard.press("Control+k")
    page.keyboard.type("simul")
    palette = page.get_by_role("dialog", name="Search everything")
    expect(palette.get_by_role("link", name="Simulator")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/simulator/")
    context.close()


def test_nothing_moves_for_who_asked_for_that(signed_in: OpenContext, execute: Execute) -> None:
    execute("echo", {"text": "a"})
    context = signed_in(reduced_motion="reduce")
    page = context.new_page()
    for address in ("/", "/runs/", "/tools/echo/try/", "/personas/demo/"):
        page.goto(address)
        assert page.evaluate(LONGEST_MS) <= 1, address
    page.keyboard.press("Control+k")
    page.get_by_role("dialog", name="Search everything").wait_for()
    assert page.evaluate("document.getAnimations().filter((one) => one.playState === 'running').length") == 0
    context.close()
