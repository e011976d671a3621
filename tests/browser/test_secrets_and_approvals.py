"""A package is set up in the browser and the next call uses it; calls are approved and denied by keys."""

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import ROOT, Hub

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
KEY = "hunter2-hunter2"
MAKE = """
import time
from registry.installations.models import Installation
from registry.installations.services import installation_start
from registry.installations.approval import installation_approve
from registry.installations.source_form import Source
from registry.models import Package
from registry.services import assignment_create
from security.models import Persona, User
from django.contrib.auth.models import Permission
from tests.installations import packages
CODE = '''
from typing import Any

from toolhub_sdk import ToolContext, tool

@tool(category="data", side_effects="pure")
def greet(ctx: ToolContext, name: str = "") -> Any:
    "Tells its settings, and its secret."
    return {"unit": ctx.config.get("unit"), "length": len(ctx.secrets["api_key"]), "told": ctx.secrets["api_key"]}
'''
config = {
    "type": "object",
    "properties": {
        "unit": {"type": "string", "enum": ["C", "F"]},
        "api_key": {"type": "string", "secret": True, "title": "API key"},
    },
    "required": ["api_key"],
}
anything = {"inputSchema": {"type": "object"}, "outputSchema": {}}
tools = [
    {**packages.tool("gauge", examples=[]), **anything},
    {**packages.tool("gauge_with_care", examples=[], requiresApproval=True), **anything},
]
admin = User.objects.get(username="admin")
content = packages.zipped("1.0.0", CODE, name="gauges", config=config, tools=tools)
one = installation_start(by=admin, source=Source("upload", "gauges.zip"), content=content)
def until(*states):
    ends = time.monotonic() + 60
    while True:
        one.refresh_from_db()
        if one.status in states:
            return
        assert time.monotonic() < ends, (one.status, one.error)
        time.sleep(0.1)
until("awaiting_review")
installation_approve(by=admin, installation=one, digest=one.digest)
until("published")
assignment_create(by=admin, persona=Persona.objects.get(name="demo"), package=Package.objects.get(name="gauges"))
bo = User.objects.create_user("bo", password="correct horse battery")
for codename in ("approve_run", "view_run"):
    bo.user_permissions.add(Permission.objects.get(codename=codename))
"""


@pytest.fixture(scope="module")
def gauges(hub: Hub, execute: Callable[..., httpx.Response]) -> None:
    """The package, installed and assigned; and bo, who may approve."""
    subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", MAKE], cwd=ROOT, env=hub.env, check=True
    )


@pytest.fixture(scope="module")
def bo(gauges: None, chromium: Browser, hub: Hub) -> BrowserContext:
    """A browser in which bo is signed in."""
    context = chromium.new_context(base_url=hub.url, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto("/sign-in/")
    page.get_by_label("Username").fill("bo")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{hub.url}/")
    page.close()
    return context


def test_settings_and_a_secret_are_set_and_the_next_call_uses_them(
    gauges: None, page: Page, complaints: list[str], execute: Callable[..., httpx.Response]
) -> None:
    refused = execute("gauge", {})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "NOT_CONFIGURED")
    page.goto("/packages/gauges/")
    expect(page.get_by_text("Its tools refuse calls until these are set: api_key.")).to_be_visible()
    page.get_by_role("link", name="Change").click()
    page.get_by_label("API key").fill("short")
    page.get_by_role("button", name="Keep them").click()
    expect(page.get_by_label("API key")).to_be_focused()
    expect(page.get_by_text("A secret has 8 to")).to_be_visible()
    complaints.clear()  # the browser tells of the 422
    page.get_by_label("API key").fill(KEY)
    page.get_by_label("unit").select_option("C")
    page.get_by_role("button", name="Keep them").click()
    page.wait_for_url("**/packages/gauges/")
    expect(page.get_by_text("by admin").first).to_be_visible()
    assert KEY not in page.content()
    answer = execute("gauge", {}).json()
    assert answer["data"] == {"unit": "C", "length": len(KEY), "told": "[redacted]"}
    page.goto("/packages/gauges/config/")
    assert KEY not in page.content()
    expect(page.get_by_label("API key", exact=False).first).to_have_value("")


def _move_to(queue: Page, text: str) -> None:
    """By the keyboard to the card that has the text; others may wait before it."""
    while queue.locator("[data-approval]:focus").count():
        before = queue.locator("[data-approval]:focus").get_attribute("aria-labelledby")
        queue.keyboard.press("k")
        if before == queue.locator("[data-approval]:focus").get_attribute("aria-labelledby"):
            break
    for step in range(20):
        if step or not queue.locator("[data-approval]:focus").count():
            queue.keyboard.press("j")
        if text in queue.locator("[data-approval]:focus").inner_text():
            return
    raise AssertionError(text)


def test_calls_are_decided_by_keys(
    bo: BrowserContext, page: Page, execute: Callable[..., httpx.Response], hub: Hub, token: str
) -> None:
    def status(run: Any) -> str:
        headers = {"Authorization": f"Bearer {token}"}
        answer = httpx.get(f"{hub.url}/api/v1/runs/{run}", headers=headers, params={"wait": 20}, timeout=40)
        return str(answer.json()["metadata"]["status"])

    def waits(run: Any) -> bool:
        headers = {"Authorization": f"Bearer {token}"}
        answer = httpx.get(f"{hub.url}/api/v1/runs/{run}", headers=headers, timeout=40)
        return bool(answer.json()["metadata"]["status"] == "awaiting_approval")

    runs = []
    for name in ("first", "second", "third"):
        answer = execute("gauge_with_care", {"name": name})
        assert (answer.status_code, answer.json()["metadata"]["status"]) == (202, "awaiting_approval")
        runs.append(answer.json()["metadata"]["run_id"])
    queue = bo.new_page()
    queue.goto("/approvals/")
    expect(queue.get_by_text('"first"')).to_be_visible()
    # No key decides a call that nobody chose.
    queue.keyboard.press("a")
    expect(queue.locator("dialog[open]")).to_have_count(0)
    _move_to(queue, '"first"')
    # Nor does one key decide the one that was chosen: it is shown, and asked about.
    queue.keyboard.press("a")
    expect(queue.get_by_role("dialog")).to_contain_text('"first"')
    queue.keyboard.press("a")
    queue.keyboard.press("Escape")
    expect(queue.locator("dialog[open]")).to_have_count(0)
    assert waits(runs[0])
    _move_to(queue, '"first"')
    queue.keyboard.press("a")
    queue.keyboard.press("Enter")
    expect(queue.get_by_text("approved, it runs")).to_be_visible()
    assert status(runs[0]) == "completed"
    _move_to(queue, '"second"')
    queue.keyboard.press("d")
    expect(queue.locator("[data-approval]:focus-within [data-deny] input[name=reason]")).to_be_focused()
    queue.keyboard.type("not today")
    queue.keyboard.press("Enter")
    expect(queue.get_by_text("demo: denied.")).to_be_visible()
    assert status(runs[1]) == "cancelled"
    assert status(runs[2]) == "awaiting_approval"
    # Who is responsible for the token sees the call, and who can decide.
    page.goto("/approvals/")
    expect(page.get_by_text("You are responsible for the caller. bo can decide.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    page.goto(f"/runs/{runs[2]}/")
    expect(page.get_by_text("A person has to approve it")).to_be_visible()
    queue.close()


def test_a_full_queue_is_gone_through_by_keys_alone(
    bo: BrowserContext, execute: Callable[..., httpx.Response], hub: Hub, token: str
) -> None:
    """More wait than a page shows. After an answer the keys go on where they were."""
    runs = {}
    for number in range(13):
        answer = execute("gauge_with_care", {"name": f"full {number}"}).json()
        runs[f"full {number}"] = answer["metadata"]["run_id"]
    queue = bo.new_page()
    queue.goto("/approvals/")
    focused, cards = queue.locator("[data-approval]:focus"), queue.locator("[data-approval]")
    expect(cards).to_have_count(10)
    for _ in range(15):
        queue.keyboard.press("j")
    expect(cards.nth(9)).to_be_focused()
    expect(cards.nth(9)).to_be_in_viewport()
    queue.keyboard.press("k")
    expect(cards.nth(8)).to_be_focused()
    named = re.compile(r'"(full \d+)"')

    def name_of(index: int) -> str:
        found = named.search(cards.nth(index).inner_text())
        assert found
        return found[1]

    approved, following = name_of(8), name_of(9)
    queue.keyboard.press("a")
    queue.keyboard.press("Enter")
    expect(queue.get_by_text("approved, it runs")).to_be_visible()
    # The next one stands in its place and has the focus.
    expect(cards.nth(8)).to_be_focused()
    assert name_of(8) == following
    queue.keyboard.press("d")
    expect(cards.nth(8).locator("[data-deny] input[name=reason]")).to_be_focused()
    queue.keyboard.type("a day jail")  # keys within a field are letters
    queue.keyboard.press("Enter")
    expect(queue.get_by_text("demo: denied.")).to_be_visible()
    expect(cards.nth(8)).to_be_focused()
    headers = {"Authorization": f"Bearer {token}"}

    def status(name: str) -> str:
        answer = httpx.get(
            f"{hub.url}/api/v1/runs/{runs[name]}", headers=headers, params={"wait": 20}, timeout=40
        )
        return str(answer.json()["metadata"]["status"])

    assert (status(approved), status(following)) == ("completed", "cancelled")
    waiting = [
        httpx.get(f"{hub.url}/api/v1/runs/{run}", headers=headers, timeout=40).json()["metadata"]["status"]
        for name, run in runs.items()
        if name not in {approved, following}
    ]
    assert set(waiting) == {"awaiting_approval"}
    expect(focused).to_have_count(1)
    queue.close()


def test_the_queue_works_without_script(
    bo: BrowserContext, hub: Hub, execute: Callable[..., httpx.Response]
) -> None:
    execute("gauge_with_care", {"name": "no script"})
    assert bo.browser
    plain = bo.browser.new_context(
        base_url=hub.url, storage_state=bo.storage_state(), java_script_enabled=False
    )
    page = plain.new_page()
    page.goto("/approvals/")
    card = page.locator("[data-approval]").last
    card.get_by_label("Reason").last.fill("no")
    card.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("demo: denied.")).to_be_visible()
    plain.close()
