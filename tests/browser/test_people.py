"""A reviewer and an operator go through what they came for, and are offered nothing else."""

import re
import subprocess
import sys
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ROOT, Hub

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
Execute = Callable[..., httpx.Response]
MAKE = """
from django.contrib.auth.models import Group
from security.models import User
person = User.objects.create_user({name!r}, password="a-long-password-of-tests")
person.groups.add(Group.objects.get(name={role!r}))
"""


def enters(browser: Browser, hub: Hub, name: str, role: str) -> Page:
    """A person of that role, signed in."""
    code = MAKE.format(name=name, role=role)
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
    subprocess.run(command, cwd=ROOT, env=hub.env, check=True, capture_output=True)
    page = browser.new_context(base_url=hub.url, viewport={"width": 1440, "height": 900}).new_page()
    page.goto("/sign-in/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill("a-long-password-of-tests")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{hub.url}/")
    return page


def test_a_reviewer_reads_what_was_called_by_whom_and_the_figures(
    chromium: Browser, hub: Hub, execute: Execute
) -> None:
    run_id = execute("json_parse", {"text": "{"}).json()["metadata"]["run_id"]
    page = enters(chromium, hub, "reviewer", "viewer")
    expect(page.locator("[data-chart] canvas")).to_have_count(2)
    page.get_by_role("link", name=re.compile("Failed, 24 h")).click()
    page.get_by_role("link", name=re.compile(run_id[-8:])).click()
    expect(page.get_by_text("INVALID_JSON").first).to_be_visible()
    for act in ("Retry as new", "Replay", "Cancel"):
        expect(page.get_by_text(act, exact=True)).to_have_count(0)
    page.get_by_role("link", name="run.outcome").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("run.outcome")
    page.goto("/audit/?persona=demo")
    expect(page.get_by_role("link", name="run.accepted").first).to_be_visible()
    page.goto("/tools/json_parse/")
    expect(page.get_by_role("link", name="Try it")).to_have_count(0)
    answer = page.goto("/tools/json_parse/try/")
    assert answer
    assert answer.status == 404
    page.context.close()


def test_an_operator_tries_a_tool_and_stops_what_waits(chromium: Browser, hub: Hub) -> None:
    page = enters(chromium, hub, "operator", "operator")
    page.keyboard.press("Control+k")
    page.keyboard.type("calcul")
    expect(page.get_by_role("dialog").get_by_role("link", name="calculate")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/tools/calculate/")
    page.get_by_role("link", name="Try it").click()
    page.get_by_label("As persona").fill("demo")
    page.get_by_label("num1").fill("40")
    page.get_by_role("button", name="Run it").click()
    expect(page.locator("#tried").get_by_label("the result", exact=True)).to_contain_text(
        '"result": 43', timeout=15_000
    )
    page.locator("#tried").get_by_role("link", name="Its run").click()
    expect(page.get_by_text("operator").first).to_be_visible()
    expect(page.get_by_role("link", name="run.tried")).to_be_visible()
    page.context.close()
