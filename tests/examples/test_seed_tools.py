"""The tools that the seeds give as examples: web:scrape, file:write and the calculator."""

import http.server
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.test import Client

from registry.services import assignment_create
from security.models import Persona, User
from security.sandbox.folders import inside
from security.services import grant_create
from tests.contract.conftest import carry, nothing_waits
from tests.sandbox.packages import publish
from toolhub_sdk import ToolContext, ToolError, manifest_of
from toolhub_sdk import call as tool_call

__all__ = ["carry", "nothing_waits"]
ROOT = Path(__file__).parents[2] / "examples"
PAGE = """<!doctype html><title>A page</title><body><div class="top big"><h1 id="first">The <b>first</b>
 heading</h1></div><h1>Another</h1><p class="big">Text &amp; more<br>and on</p></body>"""
SUGGESTIONS = 2


def load(folder: str, name: str) -> ModuleType:
    """A module of an example, as the hub imports it."""
    spec = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


page = load("web-scrape", "page")
FILE_WRITE = load("file-write", "file_write")
WEB_SCRAPE = load("web-scrape", "web_scrape")


def write(**arguments: Any) -> Any:
    return tool_call(FILE_WRITE.file_write, arguments, ToolContext())


def failed(**arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as error:
        write(**arguments)
    return error.value


def test_file_write_leaves_a_file_alone_that_exists(tmp_path: Path) -> None:
    file = str(tmp_path / "note")
    assert write(path=file, content="one") == {"path": file, "bytesWritten": 3}
    error = failed(path=file, content="two")
    assert (error.code, error.recoverable, Path(file).read_text()) == ("FILE_EXISTS", True, "one")
    assert write(path=file, content="three", overwrite=True)["bytesWritten"] == 5


def test_file_write_knows_three_encodings(tmp_path: Path) -> None:
    for number, (content, encoding, made) in enumerate(
        (("AAE=", "base64", b"\0\1"), ("é", "utf-8", "é".encode()), ("e", "ascii", b"e"))
    ):
        file = tmp_path / str(number)
        assert write(path=str(file), content=content, encoding=encoding)["bytesWritten"] == len(made)
        assert file.read_bytes() == made
    for content, encoding in (("A", "base64"), ("é", "ascii")):
        error = failed(path=str(tmp_path / "x"), content=content, encoding=encoding)
        assert (error.code, error.details["errors"][0]["pointer"]) == (
            "INVALID_ARGUMENTS",
            "/arguments/content",
        )


@pytest.mark.parametrize("name", ["none/file", "a\0b", "."])
def test_file_write_says_what_could_not_be_written(tmp_path: Path, name: str) -> None:
    error = failed(path=f"{tmp_path}/{name}", content="x", overwrite=True)
    assert (error.code, error.recoverable) == ("WRITE_FAILED", True)


def test_file_write_declares_what_its_text_asks_for() -> None:
    (tool,) = manifest_of(FILE_WRITE, FILE_WRITE.PACKAGE, runtime="python")["tools"]
    contract = tool["_meta"]["io.toolhub/contract"]
    assert (contract["retry"], contract["resourceBounds"]["timeoutMs"]) == ("QUICK", 10_000)
    assert [each["event"] for each in contract["effects"]] == ["file:changed"]
    codes = {each["code"]: (each["recoverable"], len(each["suggestions"])) for each in contract["errors"]}
    assert codes == {"FILE_EXISTS": (True, 2), "WRITE_FAILED": (False, 1)}


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ("h1", "The first heading"),
        ("#first", "The first heading"),
        (".big", "The first heading"),
        ("p.big", "Text & more and on"),
        ("body h1", "The first heading"),
        ("div.top b", "first"),
        ("h2", None),
        ("h1 > b", None),
        ("h1[id]", None),
    ],
)
def test_the_first_element_that_a_selector_names(selector: str, text: str | None) -> None:
    assert page.first_text(PAGE.replace("<br>", " <br>"), selector) == text


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = self.path == "/page"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE.encode() if found else b"")

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def port() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture
def scrape(
    transactional_db: None, admin: User, persona: Persona, port: int, settings: Any, carry: Callable[..., Any]
) -> Callable[..., Any]:
    """Calls the installed tool, with the test's server among its hosts, as a persona that may."""
    settings.HTTP_ALLOW = [f"127.0.0.1:{port}", "127.0.0.1:9"]
    manifest = manifest_of(WEB_SCRAPE, WEB_SCRAPE.PACKAGE, runtime="python")
    allowed = {"allow": [f"127.0.0.1:{port}", "127.0.0.1:9"]}
    manifest["tools"][0]["_meta"]["io.toolhub/contract"]["network"] = allowed
    files = {name: (ROOT / "web-scrape" / name).read_bytes() for name in ("web_scrape.py", "page.py")}
    assignment_create(by=admin, persona=persona, package=publish(manifest, files).package)
    for capability in ("web:scrape", "network:example.org"):
        grant_create(by=admin, persona=persona, capability=capability, reason="A test.")

    def do(path: str, *, at: int = port, scheme: str = "http", **more: Any) -> Any:
        arguments = {"url": f"{scheme}://127.0.0.1:{at}{path}", **more}
        return carry("web_scrape", body={"arguments": arguments, "context": {"session_id": "s"}})

    return do


@pytest.mark.sandbox
@pytest.mark.django_db
def test_web_scrape_reads_a_page_and_remembers_it(
    scrape: Callable[..., Any], port: int, client: Client, token_text: str
) -> None:
    done = scrape("/page", selector="h1", waitFor=200)
    assert (done["data"]["content"], done["success"]) == ("The first heading", True), done
    assert done["metadata"]["duration_ms"] >= 200
    assert scrape("/page")["data"]["content"] == PAGE
    read = client.get(
        "/api/v1/memory/short-term/web:cache?session_id=s", HTTP_AUTHORIZATION=f"Bearer {token_text}"
    )
    assert list(read.json()["value"]) == [f"http://127.0.0.1:{port}/page"]


@pytest.mark.sandbox
@pytest.mark.django_db
@pytest.mark.parametrize(("path", "port_at"), [("/gone", None), ("/", 9)])
def test_web_scrape_says_what_could_not_be_read(
    scrape: Callable[..., Any], path: str, port_at: int | None
) -> None:
    error = scrape(path, **({"at": port_at} if port_at else {}))["error"]
    assert (error["code"], error["type"], error["recoverable"]) == ("SCRAPE_FAILED", "network", True)
    assert len(error["suggestions"]) == SUGGESTIONS


@pytest.mark.sandbox
@pytest.mark.django_db
def test_web_scrape_takes_addresses_of_the_web_alone(scrape: Callable[..., Any]) -> None:
    assert scrape("/page", scheme="ftp")["status"] == 422
    assert scrape("/page", selector="h2")["error"]["code"] == "SCRAPE_FAILED"


@pytest.fixture
def write_inside(
    transactional_db: None,
    admin: User,
    persona: Persona,
    settings: Any,
    tmp_path: Path,
    carry: Callable[..., Any],
) -> Callable[..., Any]:
    """Calls the installed tool, which may write in one folder and only read another, in a session."""
    for name in ("drop", "reports"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    settings.FOLDERS = [f"drop={tmp_path}/drop:rw", f"reports={tmp_path}/reports"]
    manifest = manifest_of(FILE_WRITE, FILE_WRITE.PACKAGE, runtime="python")
    files = {"file_write.py": (ROOT / "file-write" / "file_write.py").read_bytes()}
    granted = {"read": ["reports"], "write": ["drop"]}
    manifest["tools"][0]["_meta"]["io.toolhub/contract"]["filesystem"] = granted
    assignment_create(by=admin, persona=persona, package=publish(manifest, files).package)

    def do(path: str, content: str = "x", **more: Any) -> Any:
        arguments = {"path": path, "content": content, **more}
        return carry("file_write", body={"arguments": arguments, "context": {"session_id": "s"}})

    return do


@pytest.mark.sandbox
@pytest.mark.django_db
def test_file_write_in_the_sandbox_is_as_its_text_says(
    write_inside: Callable[..., Any],
    admin: User,
    persona: Persona,
    client: Client,
    token_text: str,
    tmp_path: Path,
) -> None:
    note = f"{inside('drop')}/note"
    assert write_inside(note)["status"] == 403
    grant_create(by=admin, persona=persona, capability="file:write", reason="A test.")
    done = write_inside(note, "AAE=", encoding="base64")
    assert (done["data"], done["metadata"]["sandbox"]) == ({"path": note, "bytesWritten": 2}, "isolated")
    error = write_inside(note, "other")["error"]
    assert (error["code"], error["recoverable"]) == ("FILE_EXISTS", True)
    assert len(error["suggestions"]) == SUGGESTIONS
    assert (tmp_path / "drop" / "note").read_bytes() == b"\0\1"
    old = tmp_path / "drop" / "old"
    old.write_text("old")
    old.chmod(0o666)  # each call is a user of its own
    there = f"{inside('drop')}/old"
    assert write_inside(there, "three", overwrite=True)["data"]["bytesWritten"] == 5
    assert old.read_text() == "three"
    for place in (f"{inside('reports')}/note", "/usr/note"):
        assert write_inside(place)["error"]["code"] == "WRITE_FAILED"
    read = client.get("/api/v1/sessions/s/events", HTTP_AUTHORIZATION=f"Bearer {token_text}").json()
    changed = [("file:changed", {"path": path, "action": "write"}) for path in (note, there)]
    assert [(event["event"], event["payload"]) for event in read["events"]] == changed


@pytest.mark.django_db
def test_the_calculator_is_as_its_text_says(call: Callable[..., Any], assign: Callable[[str], None]) -> None:
    assign("calculate")
    done = call("calculate", {"operation": "multiply", "num1": 6, "num2": 7}).json()
    assert done["data"] == {"result": 42}
    error = call("calculate", {"operation": "divide", "num1": 1, "num2": 0}).json()["error"]
    assert (error["message"], error["recoverable"]) == ("Division by zero.", True)
    assert error["suggestions"]
