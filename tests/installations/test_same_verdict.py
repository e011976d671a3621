"""`python -m toolhub_sdk check` and a hub say the same of a package: all that tests and cases have of bad ones."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import ToolHubError
from registry.archives.zips import zip_read, zip_write
from registry.installations.verify import package_check
from tests.installations.conftest import Install
from tests.registry import test_expressions, test_manifests
from tests.registry.test_manifests import GOOD, HERE, changed
from tests.sandbox.test_wasm import ECHO, module
from toolhub_sdk.cli import command_check
from toolhub_sdk.stop import StopError

CASES = Path(__file__).parents[1] / "cases" / "mcp_tools"
FILES = {
    "weather/tools.py": b"def forecast_of(town): return {'degrees': 12.5}\n",
    "requirements.txt": b"# none\n",
    "images/icon.svg": b"<svg/>",
    "docs/forecast.md": b"# Forecast\n",
}
Case = tuple[str, dict[str, bytes]]


def given(function: Any) -> list[Any]:
    """The cases of a test that has some."""
    found: list[Any] = list(function.pytestmark[0].args[1])
    return found


def package(manifest: Any, **files: bytes | None) -> dict[str, bytes]:
    """The files of a package; None leaves one out."""
    raw = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    every = {"toolhub.json": raw, **FILES, **files}
    return {path: text for path, text in every.items() if text is not None}


def manifests() -> Iterator[tuple[str, Any]]:
    yield "good", GOOD
    for place in given(test_manifests.test_a_missing_member_is_pointed_at):
        yield f"without {place}", changed(place, ...)
    for place, value in given(test_manifests.test_a_wrong_value_is_pointed_at):
        yield f"{place} is {value!r:.40}", changed(place, value)
    for place, _ in given(test_manifests.test_an_unknown_member_is_pointed_at):
        yield f"{place} is there", changed(place, "x")
    for entry, _ in given(test_manifests.test_other_commands_are_refused):
        yield f"command {entry!r}", {**GOOD, "runtime": {"type": "command", "entry": entry}}
    for member, value, place, _ in test_expressions.BAD:
        yield f"expression at {place}", changed(f"{HERE}/{member}", value)
    for effect, member in test_expressions.UNFIT:
        yield f"effect with {member} {effect!r:.60}", changed(f"{HERE}/effects", [effect])
    for raw, code in given(test_manifests.test_what_is_no_strict_json_is_refused_with_its_code):
        yield code, raw
    for name in ("test_a_hostile_schema_is_refused", "test_an_honest_schema_is_taken"):
        for number, schema in enumerate(given(getattr(test_manifests, name))):
            if "not" not in schema or number:
                yield f"{name} {number}", changed("/config", {"type": "object", **schema})
    for file in sorted(CASES.glob("*.json")):
        tools = json.loads(file.read_text(encoding="utf-8"))
        yield file.stem, {**GOOD, "tools": (tools["tools"] if isinstance(tools, dict) else tools)[:200]}
    yield "own name", {**GOOD, "name": "toolhub-weather"}
    yield "builtin", {**GOOD, "runtime": {"type": "builtin", "entry": "data"}}


def cases() -> Iterator[Case]:
    for name, manifest in manifests():
        try:
            yield name, package(manifest)
        except RecursionError:
            continue  # nested so deep that it cannot be written
    for file in ("weather/tools.py", "images/icon.svg", "docs/forecast.md", "requirements.txt"):
        yield f"no {file}", package(GOOD, **{file: None})
    for line in ("-e .", "a @ https://example.org/a.whl", "a b c", "a==1 --x", "\xff"):
        yield f"requires {line!r}", package(GOOD, **{"requirements.txt": line.encode("latin-1")})
    for path in ("con.txt", "a\u202eb", "a" * 241, "Docs/Forecast.md", "images/ICON.svg/x", "end."):
        yield f"path {path!r:.40}", package(GOOD, **{path: b"x"})
    wasm = {**GOOD, "runtime": {"type": "wasm", "entry": "tool.wasm"}}
    for content in (b"text", None):
        yield f"wasm {content!r}", package(wasm, **{"tool.wasm": content})
    yield "a module", package(wasm, **{"tool.wasm": module(ECHO)})


def told_by_sdk(folder: Path, files: dict[str, bytes]) -> set[str] | None:
    """The pointers of a refusal, `{"*"}` where nothing could be read; None for a package that is taken."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    try:
        problems = command_check.package_check(folder)[1]
    except StopError:
        return {"*"}
    return {problem.pointer for problem in problems} or None


def told_by_hub(files: dict[str, bytes]) -> set[str] | None:
    try:
        package_check(zip_read(zip_write(files)))
    except ToolHubError as error:
        return {each["pointer"] for each in error.errors} or {""}
    return None


def test_check_and_a_hub_say_the_same(tmp_path: Path) -> None:
    different, taken = [], []
    for number, (name, files) in enumerate(cases()):
        sdk, hub = told_by_sdk(tmp_path / str(number), files), told_by_hub(files)
        if sdk != hub and not (sdk == {"*"} and hub):
            different.append((name, sdk, hub))
        if hub is None:
            taken.append(name)
    assert different == []
    assert number > 150
    assert 10 < len(taken) < 40, taken


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"weather/tools.py": None}, "INVALID_MANIFEST"),
        ({"requirements.txt": b"-e ."}, "REQUIREMENTS_REFUSED"),
        ({"con.txt": b""}, "PACKAGE_REFUSED"),
        ({}, None),
    ],
)
def test_an_installation_makes_these_checks(
    fetch: Install, change: dict[str, bytes | None], code: str | None
) -> None:
    one = fetch(zip_write(package(GOOD, **change)))
    assert (one.error or {}).get("code") == code
    assert (one.status == "awaiting_review") == (code is None)
