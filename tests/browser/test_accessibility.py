"""axe finds nothing on any page, in both themes; and a phone never scrolls sideways."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from tests.browser.conftest import Hub, OpenContext
from tests.browser.every_page import every_page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
# Its rows of every kind would stand in the way of other tests.
OWN_HUB = True
AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
# No rule that runs reads style sheets, and nobody the selectors of what was found.
RUN = """(rules) => axe.run(document, {
  resultTypes: ["violations"], selectors: false, preload: {assets: ["media"]}, ...(rules && {runOnly: rules}),
}).then(
  (all) => all.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(" | ")}`))"""
# What is wider than the window, and tables that a card clips: their last column would be hidden.
TOO_WIDE = """[
  ...(document.documentElement.scrollWidth > innerWidth ? ["the page"] : []),
  ...[...document.querySelectorAll(".facts")].filter((f) => f.scrollWidth > f.clientWidth).map(() => "facts"),
  ...[...document.querySelectorAll(".card > table, .card #list > table")]
    .filter((t) => !t.closest(".sideways") && t.offsetWidth > t.parentElement.clientWidth)
    .map((t) => t.caption?.textContent ?? "a table"),
]"""
# All that axe has to say of colours.
COLOURS = ["color-contrast", "link-in-text-block"]
DESK: ViewportSize = {"width": 1440, "height": 900}
# Where tables have the least room: beside the navigation; and beside it and a second column.
NARROW: tuple[ViewportSize, ...] = ({"width": 1100, "height": 800}, {"width": 1300, "height": 800})
PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def addresses(hub: Hub, execute: Callable[..., httpx.Response], signed_in: OpenContext) -> list[str]:
    """Every page."""
    context = signed_in()
    found = every_page(hub, execute, context)
    context.close()
    return found


def faults(page: Page) -> list[str]:
    """What axe finds on the page as it stands, light on a desk, then dark, then on a phone; what is too wide
    there and on narrow desks.

    One load serves all: the theme follows the system and the layout the window. Leaves it as it was.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(RUN)
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {what}" for what in page.evaluate(RUN, COLOURS)]
    for size in NARROW:
        page.set_viewport_size(size)
        found += [f"{size['width']}: {what}" for what in page.evaluate(TOO_WIDE)]
    page.set_viewport_size(PHONE)
    found += [f"phone: {what}" for what in [*page.evaluate(RUN), *page.evaluate(TOO_WIDE)]]
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(DESK)
    return found


@pytest.fixture
def eye(signed_in: OpenContext) -> Iterator[Page]:
    """A signed-in page on a light desk, the animations of the theme being over; axe comes with each address."""
    context = signed_in(color_scheme="light", reduced_motion="reduce", viewport=DESK)
    context.add_init_script(path=AXE)
    yield context.new_page()
    context.close()


def test_nothing_is_wrong_on_any_page(eye: Page, addresses: list[str]) -> None:
    found = {}
    for address in addresses:
        eye.goto(address)
        found[address] = faults(eye)
    assert {address: what for address, what in found.items() if what} == {}


def test_every_page_is_read_without_javascript(signed_in: OpenContext, addresses: list[str]) -> None:
    """Nothing on it waits for a script: no button that would do nothing, no page without its text."""
    context = signed_in(java_script_enabled=False)
    page = context.new_page()
    waiting = {}
    for address in addresses:
        page.goto(address)
        main = page.locator("main")
        dead = main.locator("button[type=button]:visible, .js-only:visible")
        if dead.count() or not main.inner_text().strip():
            waiting[address] = dead.all_inner_texts()
    context.close()
    assert waiting == {}


@pytest.mark.parametrize(
    ("address", "button"),
    [
        ("/schedules/new/", "Make the schedule"),
        ("/personas/new/", "Make the persona"),
        ("/personas/demo/", "Make the token"),
        ("/account/password/", "Change the password"),
    ],
)
def test_nothing_is_wrong_on_a_form_that_came_back(eye: Page, address: str, button: str) -> None:
    eye.goto(address)
    eye.locator("details.adder").evaluate_all("(all) => all.forEach((one) => { one.open = true; })")
    assert faults(eye) == []
    eye.get_by_role("button", name=button).click()
    eye.locator(".field-error").first.wait_for()
    assert faults(eye) == []


def test_nothing_is_wrong_with_what_opens_over_a_page(eye: Page) -> None:
    eye.goto("/personas/demo/")
    eye.get_by_role("link", name="Switch off").click()
    eye.get_by_role("dialog").wait_for()
    assert faults(eye) == []
    eye.goto("/")
    eye.locator(".account summary").click()
    assert faults(eye) == []


def test_nothing_is_wrong_at_the_door(chromium: Browser, hub: Hub) -> None:
    context = chromium.new_context(base_url=hub.url, viewport=DESK, reduced_motion="reduce")
    page = context.new_page()
    page.goto("/sign-in/")
    assert faults(page) == []
    page.get_by_role("button", name="Sign in").click()
    page.locator(".field-error").first.wait_for()
    assert faults(page) == []
    context.close()


def test_fifteen_runs_fit_on_a_screen(signed_in: OpenContext, execute: Callable[..., httpx.Response]) -> None:
    for number in range(20):
        execute("echo", {"text": f"row {number}"})
    context = signed_in()
    page = context.new_page()
    page.goto("/runs/")
    seen = page.evaluate(
        "[...document.querySelectorAll('tbody tr')]"
        ".filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length"
    )
    context.close()
    assert seen >= 15
