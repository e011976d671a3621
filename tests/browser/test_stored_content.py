"""What agents and people store is text on every page that shows it: no script, no request, no attribute acts."""

import subprocess
import sys
from collections.abc import Callable
from urllib.parse import quote

import httpx
import pytest

from tests.browser.conftest import ROOT, Hub, OpenContext

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
OWN_HUB = True
MARKUP = (
    "<script>alert(1)</script><img src=/planted onerror=alert(2)>"
    '<b hx-get="/planted" hx-trigger="load" data-live>x</b>"\' onfocus=alert(3) autofocus x="'
)
MAKE = """
import sys
from registry.models import Tool
from registry.releases.overlay import tool_overlay_edit
from execution.entry.schedules.services import schedule_create
from security.models import Persona, User
from security.policy.services import restriction_create
from registry.rules.services import rule_add
from security.services import grant_create, persona_create
bad = sys.stdin.read()
admin, demo = User.objects.get(username="admin"), Persona.objects.get(name="demo")
persona_create(by=admin, name="hostile", title=bad[:80], description=bad)
grant_create(by=admin, persona=demo, capability="file:read", reason=bad)
restriction_create(by=admin, persona=demo, capability="file:delete", reason=bad)
tool_overlay_edit(by=admin, tool=Tool.objects.get(name="hash"), overlay={"tags": [bad[:40]], "documentation": bad, "notes": bad})
plan = {"tool": "echo", "arguments": {"text": bad}, "cron": "0 9 * * *", "time_zone": "UTC"}
rule_add(by=admin, tool=Tool.objects.get(name="hash"), expression="true", message=bad[:500])
schedule_create(by=admin, name=bad[:80], persona=demo, **plan)
"""
PAGES = (
    "/",
    "/runs/",
    "/personas/",
    "/personas/hostile/",
    "/personas/demo/",
    "/policy/",
    "/tools/",
    "/tools/hash/",
)
PAGES += (
    "/tools/hash/edit/",
    "/tools/hash/rules/",
    "/schedules/",
    "/audit/",
    "/simulator/?persona=demo&tool=echo",
    "/sessions/",
    "/tools/echo/try/",
)


def test_nothing_that_is_stored_acts(
    hub: Hub, signed_in: OpenContext, execute: Callable[..., httpx.Response]
) -> None:
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", MAKE]
    subprocess.run(command, cwd=ROOT, env=hub.env, input=MARKUP, text=True, check=True, capture_output=True)
    bidi = f"{MARKUP}\u202egnp.exe"
    runs = [
        execute(tool, arguments).json()["metadata"]["run_id"]
        for tool, arguments in (("echo", {"text": bidi}), ("json_parse", {"text": bidi}))
    ]
    window = signed_in()
    page = window.new_page()
    acted: list[str] = []
    page.on("dialog", lambda dialog: (acted.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda sent: acted.append(sent.url) if "/planted" in sent.url[-9:] else None)
    searched = [
        f"{at}?q={quote(MARKUP)}" for at in ("/runs/", "/tools/", "/personas/", "/audit/", "/search/")
    ]
    shown = 0
    for address in (*PAGES, *searched, *(f"/runs/{run}/" for run in runs)):
        page.goto(address)
        page.wait_for_timeout(150)
        assert page.locator('[hx-get="/planted"], img[src="/planted"], [onfocus]').count() == 0, address
        shown += "alert(1)" in page.content()
        # What is shown as JSON has invisible characters as escapes.
        assert all("\u202e" not in text for text in page.locator("pre").all_text_contents()), address
        assert acted == [], address
    assert shown >= 12
    window.close()
