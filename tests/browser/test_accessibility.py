"""axe finds nothing on any page, in both themes; and a phone never scrolls sideways."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Hub, OpenContext

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
FIXED = (
    "/",
    "/tools/",
    "/tools/?q=nothing+has+this+name",
    "/tools/current_time/",
    "/personas/",
    "/personas/new/",
    "/personas/demo/",
    "/personas/demo/switch/",
    "/runs/",
    "/audit/",
    "/account/password/",
    "/sign-out/",
    "/api/docs",
    "/api/docs/errors",
    "/nothing/",
)
RUN = """axe.run(document, {resultTypes: ["violations"]}).then(
  (all) => all.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(" | ")}`))"""


@pytest.fixture(scope="module")
def addresses(execute: Callable[..., httpx.Response], signed_in: OpenContext) -> list[str]:
    """Every page, with runs of each kind on them."""
    good = execute("echo", {"text": "Grüße " * 40}).json()["metadata"]["run_id"]
    bad = execute("json_parse", {"text": "{"}).json()["metadata"]["run_id"]
    context = signed_in()
    page = context.new_page()
    page.goto("/audit/?kind=run.outcome")
    event = page.locator(".rows td a").first.get_attribute("href")
    context.close()
    return [*FIXED, f"/runs/{good}/", f"/runs/{bad}/", str(event)]


def violations(page: Page) -> list[str]:
    """What axe finds on the page, the animations of the theme being over."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(RUN)
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(signed_in: OpenContext, addresses: list[str], theme: Any) -> None:
    context = signed_in(color_scheme=theme, reduced_motion="reduce")
    page = context.new_page()
    found = {}
    for address in addresses:
        page.goto(address)
        found[address] = violations(page)
    page.goto("/personas/demo/")
    page.get_by_role("link", name="Switch off").click()
    page.get_by_role("dialog").wait_for()
    found["a dialog"] = violations(page)
    page.goto("/")
    page.locator(".account summary").click()
    found["the menu"] = violations(page)
    context.close()
    assert {address: what for address, what in found.items() if what} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_at_the_door(chromium: Browser, hub: Hub, theme: Any) -> None:
    context = chromium.new_context(base_url=hub.url, color_scheme=theme)
    page = context.new_page()
    page.goto("/sign-in/")
    assert violations(page) == []
    context.close()


def test_a_phone_never_scrolls_sideways(signed_in: OpenContext, addresses: list[str]) -> None:
    context = signed_in(viewport={"width": 390, "height": 844})
    page = context.new_page()
    wide = []
    for address in addresses:
        page.goto(address)
        # Cards clip what is too wide; a table that is must not hide its last column.
        clipped = page.evaluate(
            "[...document.querySelectorAll('.card:not(.sideways) > table, .card #list > table')]"
            ".filter((t) => t.offsetWidth > t.parentElement.clientWidth).length"
        )
        if page.evaluate("document.documentElement.scrollWidth") > 390 or clipped:
            wide.append(address)
    context.close()
    assert wide == []


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
