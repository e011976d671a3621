"""`make screenshots`: every page in both themes and two widths as pictures, for a person to look at.

No test by its name: it looks at nothing itself, and fails only where a page does not load.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import ViewportSize

from tests.browser.conftest import ROOT, Hub, OpenContext
from tests.browser.every_page import every_page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(1800)]
OWN_HUB = True
WIDTHS: dict[str, ViewportSize] = {
    "desk": {"width": 1440, "height": 900},
    "phone": {"width": 390, "height": 844},
}
TALLEST = 4000
# Pages that say that there is nothing, or that a form is to be sent.
ANSWERED_SO = {"/nothing/", "/account/theme/"}


def test_every_page_is_pictured(
    hub: Hub, signed_in: OpenContext, execute: Callable[..., httpx.Response]
) -> None:
    folder = Path(os.environ.get("SCREENSHOTS", ROOT / "var" / "screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [sys.executable, "manage.py", "demo_seed"], cwd=ROOT, env=hub.env, check=True, capture_output=True
    )
    context = signed_in(reduced_motion="reduce")
    page = context.new_page()
    failed = []
    only = re.compile(os.environ.get("ONLY", ""))
    for number, address in enumerate(every_page(hub, execute, context)):
        if not only.search(address):
            continue
        answer = page.goto(address)
        if answer is None or (answer.status >= 400 and address not in ANSWERED_SO):
            failed.append(address)
        page.wait_for_load_state("networkidle")
        name = f"{number:03}-{re.sub(r'[^a-z0-9]+', '-', address.lower()).strip('-') or 'overview'}"[:80]
        for width, viewport in WIDTHS.items():
            page.set_viewport_size(viewport)
            height = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
            clip = {"x": 0, "y": 0, "width": viewport["width"], "height": max(height, viewport["height"])}
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                picture = folder / f"{name}.{width}.{theme}.png"
                page.screenshot(path=picture, full_page=True, clip=clip)  # type: ignore[arg-type]
    context.close()
    assert failed == []
