"""An admin brings a package in, a second version with more rights, and goes back, while an agent calls."""

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.installations import packages

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
Execute = Callable[..., httpx.Response]
SLOW_MS = 60_000


def upload(page: Page, content: bytes) -> None:
    """Uploads a zip on the install page, and waits for its review."""
    page.goto("/install/")
    page.get_by_label("From").select_option("upload")
    expect(page.get_by_label("Address")).to_be_hidden()
    page.get_by_label("Zip").set_input_files(
        {"name": "greetings.zip", "mimeType": "application/zip", "buffer": content}
    )
    page.get_by_role("button", name="Fetch it").click()
    expect(page.get_by_role("heading", name="Your decision")).to_be_visible(timeout=SLOW_MS)


def publish(page: Page) -> None:
    page.get_by_role("button", name="Publish it").click()
    expect(page.get_by_text("is installed. Its package")).to_be_visible(timeout=SLOW_MS)


def louder() -> bytes:
    """The next version: another argument, and a capability more."""
    tool = packages.tool(requiredCapabilities=["file:read"])
    tool["inputSchema"]["properties"]["loud"] = {"type": "boolean", "description": "Whether to shout."}
    code = packages.GREET.replace(
        'description="Whom to greet.")]', 'description="Whom to greet.")], loud: bool = False'
    )
    return packages.zipped("1.1.0", code, tools=[tool])


def test_from_the_install_page_to_a_call_a_wider_version_and_back(page: Page, execute: Execute) -> None:
    upload(page, packages.zipped())
    expect(page.get_by_text("Greets somebody by name, in one short sentence.")).to_be_visible()
    publish(page)

    page.goto("/personas/demo/")
    page.get_by_label("Tool, package or collection").fill("package:greetings")
    page.get_by_role("button", name="Assign").click()
    expect(page.get_by_text("greetings is assigned.")).to_be_visible()
    answer = execute("greet", {"name": "Ada"}).json()
    assert (answer["data"], answer["metadata"]["version"]) == ("Hello, Ada!", "1.0.0"), answer

    upload(page, louder())
    expect(page.get_by_role("heading", name="Against 1.0.0, which is in use")).to_be_visible()
    expect(page.get_by_text("Look at this:").first).to_be_attached()
    expect(page.get_by_role("rowheader", name=re.compile("requiredCapabilities"))).to_be_visible()
    expect(page.get_by_role("rowheader", name=re.compile("properties.loud"))).to_be_visible()
    expect(page.get_by_text("Affected personas: demo.")).to_be_visible()
    publish(page)
    refused = execute("greet", {"name": "Ada"})
    assert refused.status_code == 403
    assert refused.json()["error"]["code"] == "CAPABILITY_MISSING"

    page.goto("/packages/greetings/")
    page.get_by_role("link", name="Roll back to 1.0.0").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Affected personas: demo.")
    dialog.get_by_role("button", name="Roll back").click()
    expect(page.get_by_text("greetings 1.0.0 is in use.")).to_be_visible()
    answer = execute("greet", {"name": "Ada"}).json()
    assert (answer["success"], answer["metadata"]["version"]) == (True, "1.0.0")

    # Seldom wanted acts are in a menu that keys open; it is not cut off at the edge of its card.
    page.get_by_label("More for 1.1.0").press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Deprecate 1.1.0")).to_be_focused()
    last = page.get_by_role("link", name="Download 1.1.0")
    assert last.evaluate("""(one) => { const box = one.getBoundingClientRect();
        return document.elementFromPoint(box.x + 9, box.bottom - 3) === one; }""")
    page.keyboard.press("Escape")
    expect(last).to_be_hidden()
    page.get_by_role("link", name="Compare").click()
    page.get_by_label("Before").select_option("1.1.0")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="From 1.1.0 to 1.1.0")).to_be_visible()


def test_a_package_that_does_not_fit_says_where_and_what_to_do(page: Page) -> None:
    page.goto("/install/")
    page.get_by_label("From").select_option("upload")
    page.get_by_label("Zip").set_input_files(
        {"name": "x.zip", "mimeType": "application/zip", "buffer": packages.zipped("3.0.0", tools=None)}
    )
    page.get_by_role("button", name="Fetch it").click()
    expect(page.get_by_role("alert")).to_contain_text("/tools", timeout=SLOW_MS)
    expect(page.get_by_role("button", name="Try the step again")).to_be_visible()


def test_what_is_wrong_on_the_form_stands_at_its_field(page: Page, complaints: list[str]) -> None:
    page.goto("/install/")
    page.get_by_label("Address").fill("ext::sh -c id")
    page.get_by_role("button", name="Fetch it").click()
    expect(page.locator("#id_location_error")).to_contain_text("The repository's address")
    page.get_by_label("From").select_option("url")
    page.get_by_label("Address").fill("https://example.org/p.zip")
    page.get_by_label("SHA-256").fill("abc")
    page.get_by_role("button", name="Fetch it").click()
    expect(page.locator("#id_digest_error")).to_contain_text("64 hex digits")
    complaints.clear()  # the browser notes the 422 answers
