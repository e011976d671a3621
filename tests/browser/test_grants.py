"""An admin grants a capability, under a condition, and takes it back, while an agent calls."""

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_install import publish, upload
from tests.installations import packages

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
Execute = Callable[..., httpx.Response]


def code_of(answer: httpx.Response) -> str:
    """What a refusal says; empty for a call that was carried out."""
    error = answer.json().get("error")
    return str(error["code"]) if error else ""


def test_an_admin_grants_what_a_tool_needs_and_revokes_it(page: Page, execute: Execute) -> None:
    tool = packages.tool("write_letter", requiredCapabilities=["post:letters"])
    upload(page, packages.zipped(name="letters", tools=[tool]))
    publish(page)
    page.goto("/personas/demo/")
    page.get_by_label("Tool, package or collection").fill("package:letters")
    page.get_by_role("button", name="Assign").click()
    expect(page.get_by_text("letters is assigned.")).to_be_visible()
    refused = execute("write_letter", {"name": "Ada"})
    assert (refused.status_code, code_of(refused)) == (403, "CAPABILITY_MISSING")

    # The refusal stands in the simulator as the agent got it, and leads to where it can be changed.
    page.goto("/simulator/?persona=demo&tool=write_letter")
    expect(page.get_by_text("post:letters").first).to_be_visible()

    page.goto("/personas/demo/")
    page.get_by_text("Grant a capability").click()
    page.get_by_label("Capability", exact=True).press_sequentially("post")
    expect(page.locator("#capabilities-known option").first).to_have_attribute("value", "post:letters")
    page.get_by_label("Capability", exact=True).fill("post:letters")
    page.get_by_label("Reason").first.fill("It answers customers.")
    page.get_by_role("button", name="Grant", exact=True).click()
    grants = page.locator("section", has=page.get_by_role("heading", name="Capabilities"))
    expect(grants).to_contain_text("It answers customers.")
    assert code_of(execute("write_letter", {"name": "Ada"})) == ""

    page.get_by_role("link", name="Revoke post:letters").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("post:letters")
    dialog.get_by_role("button", name=re.compile("Revoke")).click()
    expect(page.get_by_text("post:letters is revoked.")).to_be_visible()
    assert code_of(execute("write_letter", {"name": "Ada"})) == "CAPABILITY_MISSING"

    for kind in ("grant.created", "grant.revoked"):
        page.goto(f"/audit/?kind={kind}")
        page.locator(".rows td a").first.click()
        page.wait_for_url(re.compile(r"/audit/\d+/"))
        expect(page.locator("main")).to_contain_text("post:letters")
