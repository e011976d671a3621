"""`python -m toolhub_sdk`: from nothing to a package, with the checks and tests that a hub makes."""

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.releases.draft import release_digest
from toolhub_sdk.checks.files import file_problems
from toolhub_sdk.cli.calls import tool_call
from toolhub_sdk.package import CONTRACT

# Run once: it needs no database, and starts many processes.
pytestmark = pytest.mark.setup
ROOT = Path(__file__).parents[2]
Sdk = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def sdk(tmp_path: Path) -> Sdk:
    """Runs a command line in a new folder: `sdk("check", "my-tools")`."""

    def do(*words: str) -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "toolhub_sdk", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100, check=False
        )

    return do


@pytest.fixture
def package(tmp_path: Path) -> Callable[..., Path]:
    """Writes a package of one Python module: `package("@tool() …")`."""

    def make(body: str, manifest: dict[str, Any] | None = None, name: str = "plan") -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        head = (
            "from toolhub_sdk import *\n"
            "PACKAGE = Package(name='plan', version='1.0.0', title='Plan', description='Plans.', license='MIT',"
            " author='A')\n"
        )
        (folder / "plan.py").write_text(head + body)
        if manifest is not None:
            (folder / "toolhub.json").write_text(json.dumps(manifest))
        return folder

    return make


ADD = (
    "@tool(examples=(Example({{'a': 1, 'b': 2}}, {result}),), determinism='{determinism}', timeout_ms=3000)\n"
    "def plan_add(a: int, b: int) -> int:\n"
    "    '''Adds two whole numbers and returns the sum.'''\n"
    "    {body}\n"
)


def add(body: str = "return a + b", result: str = "3", determinism: str = "deterministic") -> str:
    return ADD.format(body=body, result=result, determinism=determinism)


@pytest.mark.parametrize("kind", ["python", "command"])
def test_a_new_package_passes_every_check_and_test(sdk: Sdk, tmp_path: Path, kind: str) -> None:
    assert sdk("new", "my-tools", "--kind", kind).returncode == 0
    checked = sdk("check", "--strict", "my-tools")
    assert (checked.returncode, checked.stdout) == (0, "my-tools 0.1.0: 0 errors, 0 warnings\n")
    tested = sdk("test", "my-tools")
    assert (tested.returncode, tested.stdout.splitlines()[-1]) == (0, "1 passed, 0 failed")
    packed = sdk("pack", "my-tools")
    assert packed.returncode == 0
    with zipfile.ZipFile(tmp_path / "dist" / "my-tools-0.1.0.zip") as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert {"README.md", "toolhub.json"} < set(archive.namelist())
        manifest = json.loads(archive.read("toolhub.json"))
        files = {path: archive.read(path) for path in archive.namelist()}
    digests = {path: _sha256(content) for path, content in files.items() if path != "toolhub.json"}
    assert f"release  {release_digest(manifest, digests)}" in packed.stdout


def _sha256(content: bytes) -> str:
    done = subprocess.run(["sha256sum"], input=content, capture_output=True, check=True)
    return done.stdout.split()[0].decode()


def test_an_archive_has_the_same_bytes_wherever_it_is_made(sdk: Sdk, tmp_path: Path) -> None:
    sdk("new", "one", "--kind", "command")
    other = tmp_path / "elsewhere"
    other.mkdir()
    for file in sorted((tmp_path / "one").iterdir(), reverse=True):
        shutil.copyfile(file, other / file.name)
        os.utime(other / file.name, (1, 1))
        (other / file.name).chmod(0o600)
    (other / "__pycache__").mkdir()
    (other / "__pycache__" / "a.pyc").write_bytes(b"x")
    sdk("pack", "one", "--output", "one.zip")
    sdk("pack", "elsewhere", "--output", "other.zip")
    sdk("pack", "elsewhere", "--output", "again.zip")
    archives = [(tmp_path / name).read_bytes() for name in ("one.zip", "other.zip", "again.zip")]
    assert archives[0] == archives[1] == archives[2]
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        modes = {entry.filename: oct(entry.external_attr >> 16) for entry in archive.infolist()}
    assert modes == {"README.md": "0o100644", "tool.sh": "0o100755", "toolhub.json": "0o100644"}


def test_an_own_archive_is_not_packed_again(sdk: Sdk, package: Callable[..., Path], tmp_path: Path) -> None:
    folder = package(add())
    sdk("pack", "plan", "--output", "plan/dist/a.zip")
    sdk("pack", "plan", "--output", "b.zip")
    assert (folder / "dist" / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize(
    "manifest",
    [
        None,
        {"runtime": {"type": "python", "entry": "plan"}},
        {"title": "Other", "runtime": {"type": "python", "entry": "plan"}},
    ],
)
def test_the_tools_of_a_module_need_no_manifest(
    sdk: Sdk, package: Callable[..., Path], tmp_path: Path, manifest: dict[str, Any] | None
) -> None:
    folder = package(add(), manifest)
    assert sdk("check", "plan").returncode == 0
    assert sdk("test", "plan").returncode == 0
    assert sdk("pack", "plan").returncode == 0
    with zipfile.ZipFile(tmp_path / "dist" / "plan-1.0.0.zip") as archive:
        packed = json.loads(archive.read("toolhub.json"))
    assert [each["name"] for each in packed["tools"]] == ["plan_add"]
    assert packed["title"] == (manifest or {}).get("title", "Plan")
    assert sdk("manifest", "plan").returncode == 0
    assert json.loads((folder / "toolhub.json").read_text()) == packed


def test_manifest_writes_the_tools_anew_and_keeps_the_rest(sdk: Sdk, package: Callable[..., Path]) -> None:
    folder = package(add())
    sdk("manifest", "plan")
    written = json.loads((folder / "toolhub.json").read_text())
    (folder / "toolhub.json").write_text(json.dumps({**written, "homepage": "https://plan.example/"}))
    package(add().replace("plan_add", "plan_sum"))
    sdk("manifest", "plan")
    made = json.loads((folder / "toolhub.json").read_text())
    assert [each["name"] for each in made["tools"]] == ["plan_sum"]
    assert made["homepage"] == "https://plan.example/"


def test_errors_come_with_pointer_and_remedy(sdk: Sdk, package: Callable[..., Path]) -> None:
    package(add(), {"runtime": {"type": "python", "entry": "plan", "require": "a"}, "version": "1"})
    checked = sdk("check", "plan")
    assert checked.returncode == 1
    lines = checked.stdout.splitlines()
    assert lines[0].startswith("error    /version: ")
    assert lines[1].startswith("error    /runtime/require: ")
    assert "Did you mean requires?" in lines[1]
    assert lines[-1] == "plan 1: 2 errors, 0 warnings"
    assert sdk("pack", "plan").returncode == 1
    assert sdk("test", "plan").returncode == 1


def test_rules_in_cel_are_compiled(sdk: Sdk, package: Callable[..., Path]) -> None:
    package(add().replace("@tool(", "@tool(validators=(Rule('arguments.a >', 'No.'),), "))
    checked = sdk("check", "plan")
    place = (
        "error    /tools/0/_meta/io.toolhub~1contract/validators/0/expression: This is no CEL: it ends too"
    )
    assert (checked.returncode, checked.stdout.startswith(place)) == (1, True), checked.stdout
    assert sdk("pack", "plan").returncode == 1


@pytest.mark.parametrize(
    ("library", "extra"), [("jsonschema_rs", "check"), ("cel", "check"), ("wasmtime", "wasm")]
)
def test_a_library_that_is_not_there_is_named_with_its_extra(
    tmp_path: Path, library: str, extra: str
) -> None:
    definition = {
        "name": "one",
        "description": "One.",
        "inputSchema": {"type": "object"},
        "_meta": {CONTRACT: {"validators": [{"expression": "true", "message": "No."}]}},
    }
    manifest = {
        "manifestVersion": "1",
        "name": "one",
        "version": "1.0.0",
        "description": "One.",
        "runtime": {"type": "wasm", "entry": "a.wasm"},
        "tools": [definition],
    }
    (tmp_path / "toolhub.json").write_text(json.dumps(manifest))
    (tmp_path / "a.wasm").write_bytes(b"\0asm\1\0\0\0junk")
    code = "import sys; sys.modules[sys.argv[1]] = None; from toolhub_sdk.cli.main import main; "
    words = [sys.executable, "-c", f"{code}sys.exit(main(['check', sys.argv[2]]))"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    missing, whole = (
        subprocess.run(
            [*words, absent, str(tmp_path)], env=environment, capture_output=True, text=True, check=False
        )
        for absent in (library, "nothing")
    )
    assert (missing.returncode, f"pip install 'toolhub-sdk[{extra}]'" in missing.stderr) == (2, True)
    assert (whole.returncode, "a.wasm cannot be compiled" in whole.stdout) == (1, True)


def test_a_manifest_that_is_behind_its_module_is_told(sdk: Sdk, package: Callable[..., Path]) -> None:
    package(add())
    sdk("manifest", "plan")
    assert "MANIFEST_STALE" not in sdk("check", "plan").stdout
    code = package(add().replace("plan_add", "plan_sum")) / "plan.py"
    code.write_text(code.read_text().replace("title='Plan'", "title='Plans'"))
    told = "warning  MANIFEST_STALE /: The module plan says otherwise: title, the tool plan_sum, the tool plan_add."
    assert told in sdk("check", "plan").stdout
    sdk("manifest", "plan")
    assert json.loads((code.parent / "toolhub.json").read_text())["title"] == "Plans"
    assert "MANIFEST_STALE" not in sdk("check", "plan").stdout


def test_warnings_fail_only_when_asked(sdk: Sdk, package: Callable[..., Path]) -> None:
    package(add())
    checked = sdk("check", "plan")
    assert checked.returncode == 0
    assert "warning  PARAMETER_UNDESCRIBED /tools/0/inputSchema/properties: " in checked.stdout
    assert sdk("check", "plan", "--strict").returncode == 1


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"toolhub.json": "{"}, "toolhub.json cannot be read"),
        ({"toolhub.json": "[]"}, "no JSON object"),
        ({}, "there is none"),
        (
            {"a.py": "from toolhub_sdk import Package\nPACKAGE = 1\n", "b.py": "# toolhub_sdk PACKAGE\n"},
            "there are 2",
        ),
        ({"a.py": "import toolhub_sdk, nowhere_to_be_found\nPACKAGE = 1\n"}, "pip install -r"),
        ({"a.py": "import toolhub_sdk\nPACKAGE = 1\n"}, "has no tools"),
        ({"a.py": "import toolhub_sdk\nPACKAGE = 1/0\n"}, "ZeroDivisionError"),
        ({"toolhub.json": '{"runtime": {"type": "python", "entry": "gone"}}'}, "No module named 'gone'"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(
    sdk: Sdk, tmp_path: Path, files: dict[str, str], told: str
) -> None:
    (tmp_path / "bad").mkdir()
    for path, text in files.items():
        (tmp_path / "bad" / path).write_text(text)
    for command in ("check", "pack", "test"):
        done = sdk(command, "bad")
        assert done.returncode == 1
        assert told in done.stderr
        assert "Traceback" not in done.stderr


def test_links_are_refused(sdk: Sdk, package: Callable[..., Path]) -> None:
    (package(add()) / "passwords").symlink_to("/etc/passwd")
    done = sdk("pack", "plan")
    assert (done.returncode, "is a link" in done.stderr) == (1, True)


@pytest.mark.parametrize("name", ["Upper", "with_underscore", "1st"])
def test_a_name_that_no_package_can_have_is_refused(sdk: Sdk, tmp_path: Path, name: str) -> None:
    assert sdk("new", name).returncode == 2
    assert not (tmp_path / name).exists()


def test_a_folder_that_is_there_is_left_alone(sdk: Sdk, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert sdk("new", "mine").returncode == 2
    assert list((tmp_path / "mine").iterdir()) == []


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        (add(result="4"), "promised 4, came 3"),
        (add("raise ToolError('NO', 'Not today.')"), "NO: Not today."),
        (add("raise ValueError('secret')"), "It ended with ValueError."),
        (add("return 'x'", "..."), "does not fit outputSchema"),
        (add("import os; return os.getpid()", "..."), "another process gave another result"),
        (add("import os; os._exit(3)"), "ended with code 3"),
    ],
)
def test_an_example_that_does_not_hold_fails_with_the_reason(
    sdk: Sdk, package: Callable[..., Path], tool: str, told: str
) -> None:
    package(tool)
    done = sdk("test", "plan")
    assert done.returncode == 1
    assert told in done.stdout
    assert done.stdout.splitlines()[-1] == "0 passed, 1 failed"


def test_what_a_tool_prints_is_no_part_of_its_result(sdk: Sdk, package: Callable[..., Path]) -> None:
    package(add("print('hello'); return a + b"))
    assert sdk("test", "plan").returncode == 0


def test_bounded_tools_get_a_fixed_time(sdk: Sdk, package: Callable[..., Path]) -> None:
    body = add("return ctx.clock.now().year", "2026", "bounded").replace(
        "b: int)", "b: int, ctx: ToolContext)"
    )
    package(body)
    assert sdk("test", "plan").returncode == 0


def command(folder: Path, script: str, **contract: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    (folder / "tool.sh").write_text(script)
    definition = {"name": "t", "_meta": {CONTRACT: contract}}
    return {"runtime": {"type": "command", "entry": ["sh", "tool.sh"]}}, definition


@pytest.mark.parametrize(
    ("script", "data", "error"),
    [
        ("cat", {"arguments": {"a": 1}, "context": {"attempt": 1}, "tool": "t"}, None),
        ("echo 5; echo noise >&2", 5, None),
        ("echo $TZ | sed 's/.*/\"&\"/'", "UTC", None),
        ("echo hello", None, "The output is not one JSON value."),
        ("echo 1; echo 2", None, "The output is not one JSON value."),
        ('echo \'{"code": "FULL", "message": "No room."}\'; exit 1', None, "FULL: No room."),
        ("echo broken >&2; exit 7", None, "The program ended with code 7. broken"),
    ],
)
def test_a_command_gets_a_request_and_gives_a_result(
    tmp_path: Path, script: str, data: Any, error: str | None
) -> None:
    manifest, definition = command(tmp_path, script, environment={"TZ": "UTC"})
    answer = tool_call(tmp_path, manifest, definition, {"a": 1})
    assert (answer.data, answer.error) == (data, error)


def test_a_tool_that_does_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    script = f"sleep 300 & echo $! > {tmp_path}/child; wait"
    manifest, definition = command(tmp_path, script, resourceBounds={"timeoutMs": 1000})
    answer = tool_call(tmp_path, manifest, definition, {})
    assert answer.error == "TIMEOUT: it took more than 1 s."
    child = Path("/proc", (tmp_path / "child").read_text().strip(), "stat")
    until = time.monotonic() + 30
    while child.exists() and child.read_text().split()[2] != "Z":
        assert time.monotonic() < until, "the child still runs"


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    manifest = {"runtime": {"type": "command", "entry": "tool"}}
    assert "cannot be started" in str(tool_call(tmp_path, manifest, {"name": "t"}, {}).error)


def test_importing_the_sdk_needs_the_standard_library_alone() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import toolhub_sdk, toolhub_sdk.cli.main, toolhub_sdk.entry,"
        " toolhub_sdk.lint.review, toolhub_sdk.providers; print(*{m.split('.')[0] for m in sys.modules} -"
        " set(sys.stdlib_module_names) - {'toolhub_sdk', '__main__'})"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(ROOT)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(
    "runtime", [{"type": "wasm", "entry": "a.wasm"}, {"type": "vm", "image": "a@sha256:0"}]
)
def test_what_only_a_hub_holds_is_not_called_here(tmp_path: Path, runtime: dict[str, str]) -> None:
    answer = tool_call(tmp_path, {"runtime": runtime}, {"name": "one"}, {})
    assert "called by a hub alone" in str(answer.error)


@pytest.mark.parametrize(
    ("files", "told"),
    [({}, "The package has no file a.wasm."), ({"a.wasm": b"text"}, "a.wasm is no WebAssembly module.")],
)
def test_a_module_has_to_be_one(files: dict[str, bytes], told: str) -> None:
    manifest = {"runtime": {"type": "wasm", "entry": "a.wasm"}, "tools": []}
    assert [problem.message for problem in file_problems(manifest, files)] == [told]
    assert not list(file_problems(manifest, {"a.wasm": b"\0asm\1\0\0\0"}))


def test_a_bad_folder_of_runtimes_is_told_in_a_sentence(tmp_path: Path) -> None:
    environment = {**os.environ, "TOOLHUB_RUNTIMES": str(tmp_path / "gone")}
    done = subprocess.run(
        [sys.executable, "-m", "toolhub_sdk", "check"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == f"TOOLHUB_RUNTIMES: {tmp_path / 'gone'} is not there.\n"
