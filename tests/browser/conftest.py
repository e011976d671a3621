"""A whole hub started by `manage.py up`, and a browser to look at it."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, sync_playwright

from tests.migrated import migrated_copy
from tests.services import chromium as chromium_path

ROOT = Path(__file__).resolve().parents[2]
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Hub:
    """Where the hub answers, how the admin signs in, and the environment of its commands; and, once somebody
    needed them, what a signed-in browser holds, and a token of the persona `demo`.
    """

    url: str
    password: str
    env: dict[str, str]
    state: StorageState | None = None
    token: str | None = None


@contextmanager
def started(data: Path) -> Iterator[Hub]:
    """A hub in a fresh data folder: web, worker and steward, as a newcomer starts it."""
    migrated_copy(data / "toolhub.sqlite3")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(("TOOLHUB_", "PROMETHEUS_"))
    }
    env["TOOLHUB_STYLE_PAGE"] = "1"
    env["TOOLHUB_DATA"] = str(data)
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up", "--port", str(port)],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    said: list[str] = []
    for line in process.stdout:
        said.append(line)
        if "Ctrl-C stops everything" in line:
            break
    password = re.search(r"password (\S+) \(shown", "".join(said))
    assert password, f"The hub did not start:\n{''.join(said)}"
    yield Hub(f"http://127.0.0.1:{port}", password.group(1), env)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


@pytest.fixture(scope="session")
def shared_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """The hub of all modules that leave it as the others need it."""
    with started(tmp_path_factory.mktemp("hub") / "data") as hub:
        yield hub


@pytest.fixture(scope="module")
def hub(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """The hub of the module: one of its own where it says OWN_HUB, else the shared one."""
    if not getattr(request.module, "OWN_HUB", False):
        yield request.getfixturevalue("shared_hub")
        return
    with started(tmp_path_factory.mktemp("hub") / "data") as own:
        yield own


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser of the machine."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=list(SWITCHES))
        yield browser
        browser.close()


OpenContext = Callable[..., BrowserContext]


@pytest.fixture(scope="module")
def signed_in(chromium: Browser, hub: Hub) -> OpenContext:
    """Opens browser windows in which the admin is signed in."""
    if hub.state is None:
        first = chromium.new_context(base_url=hub.url)
        page = first.new_page()
        page.goto("/sign-in/")
        page.get_by_label("Username").fill("admin")
        page.get_by_label("Password").fill(hub.password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{hub.url}/")
        hub.state = first.storage_state()
        first.close()

    def open_context(**options: object) -> BrowserContext:
        wanted = {"base_url": hub.url, "storage_state": hub.state, "viewport": {"width": 1440, "height": 900}}
        return chromium.new_context(**{**wanted, **options})  # type: ignore[arg-type]

    return open_context


@pytest.fixture
def complaints() -> list[str]:
    """What browsers complained about: policy violations, script errors, missing files."""
    return []


@pytest.fixture
def page(signed_in: OpenContext, complaints: list[str]) -> Iterator[Page]:
    """A signed-in page; the test fails when the browser complains."""
    context = signed_in()
    opened = context.new_page()
    opened.set_default_timeout(15_000)
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def token(hub: Hub, signed_in: OpenContext) -> str:
    """A token of the persona `demo`, made on its page."""
    if hub.token is not None:
        return hub.token
    context = signed_in()
    opened = context.new_page()
    opened.goto("/personas/demo/")
    opened.get_by_text("Make a token").click()
    opened.get_by_label("Used for").fill("browser tests")
    opened.get_by_role("button", name="Make the token").click()
    opened.get_by_role("heading", name="A new token").wait_for()
    text = re.search(r"thp_[A-Za-z0-9_-]{43}", opened.content())
    context.close()
    assert text
    hub.token = text.group()
    return hub.token


@pytest.fixture(scope="module")
def execute(hub: Hub, token: str) -> Callable[..., httpx.Response]:
    """Calls a tool over HTTP: `execute("echo", {"text": "a"})`; another token and headers on demand."""

    def do(tool: str, arguments: object, *, by: str = token, **headers: str) -> httpx.Response:
        return httpx.post(
            f"{hub.url}/api/v1/tools/{tool}/execute",
            json={"arguments": arguments},
            headers={"Authorization": f"Bearer {by}", **headers},
            timeout=30,
        )

    return do
