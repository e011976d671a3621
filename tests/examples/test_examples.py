"""The packages of examples/ are what they say: checked, tested, packed, installed and called."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import wasmtime
from django.core.management import call_command

from registry.models import Release
from toolhub_sdk.cli.command_check import package_check
from toolhub_sdk.cli.command_manifest import manifest_text
from toolhub_sdk.cli.command_test import example_failure
from toolhub_sdk.cli.package_folder import files_read
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.runtimes.python import RUNTIME

# Run once: what it shows does not depend on the database.
pytestmark = pytest.mark.setup
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/toolhub.json"))
# What needs a package that this environment does not have.
THIRD_PARTY = "text-table"
HERE = [name for name in NAMES if name != THIRD_PARTY]
# What reaches servers of others has no examples: a self-test may not depend on them.
ABROAD = "web-scrape"
# What the SDK does not carry out itself: a hub tries its examples.
MODULE = "check-digit"


def manifest(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((EXAMPLES / name / "toolhub.json").read_text(encoding="utf-8"))
    return read


def test_there_is_one_of_each_kind() -> None:
    kinds = {name: manifest(name)["runtime"] for name in NAMES}
    assert {runtime["type"] for runtime in kinds.values()} == {"python", "command", "wasm"}
    assert [name for name, runtime in kinds.items() if "requires" in runtime] == [THIRD_PARTY]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_no_errors_and_needs_no_advice(name: str) -> None:
    checked, problems, warnings = package_check(EXAMPLES / name)
    expected = {"EXAMPLES_MISSING"} if name == ABROAD else set()
    assert (problems, {each.code for each in warnings}) == ([], expected)
    assert checked["name"] == name
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert f"({name})" in readme


@pytest.mark.parametrize("name", [name for name in HERE if name not in (ABROAD, MODULE)])
def test_an_example_keeps_what_it_promises(name: str) -> None:
    made = manifest(name)
    for definition in made["tools"]:
        examples = definition["_meta"][CONTRACT]["examples"]
        assert examples
        for example in examples:
            assert example_failure(EXAMPLES / name, made, definition, example) is None


@pytest.mark.parametrize("name", ["file-write", "unit-conversion", "web-scrape"])
def test_a_manifest_is_what_its_module_says(name: str) -> None:
    made = RUNTIME.describe(EXAMPLES / name, name.replace("-", "_"))
    assert manifest_text(made) == (EXAMPLES / name / "toolhub.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"number": 12.5}, "NUMBER_UNREADABLE"),
        ({"number": 9007199254740991}, None),
        ({"number": 97.0}, None),
        ({"number": 6, "context": '{"arguments": {"number": 7}}'}, "NUMBER_UNREADABLE"),
    ],
)
def test_the_shell_reads_whole_numbers_alone(arguments: dict[str, Any], error: str | None) -> None:
    made = manifest("prime-factors")
    example = {"arguments": arguments}
    why = example_failure(EXAMPLES / "prime-factors", made, made["tools"][0], example)
    assert why is None if error is None else str(why).startswith(error)


def test_a_module_is_what_its_source_says() -> None:
    folder = EXAMPLES / MODULE
    made = wasmtime.wat2wasm((folder / "check_digit.wat").read_text(encoding="utf-8"))
    assert (folder / "check_digit.wasm").read_bytes() == bytes(made)


@pytest.mark.parametrize("name", NAMES)
def test_no_example_names_an_address_to_install_from(name: str) -> None:
    for path, content in files_read(EXAMPLES / name).items():
        assert not re.search(rb"https?://(?!json-schema\.org)|index-url|find-links", content), path


def sdk(python: str | Path, *words: str | Path) -> str:
    """The output of a command line of the SDK, which has to succeed."""
    done = subprocess.run(
        [str(python), "-m", "toolhub_sdk", *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(300)
def test_the_example_with_a_dependency_works_where_that_is_installed(tmp_path: Path) -> None:
    uv, python = ROOT / ".venv" / "bin" / "uv", tmp_path / "venv" / "bin" / "python"
    folder = EXAMPLES / THIRD_PARTY
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, tmp_path / "venv"], check=True, timeout=100)
    install = [uv, "pip", "install", "-q", "--python", python]
    subprocess.run([*install, "--require-hashes", "-r", folder / "requirements.txt"], check=True, timeout=100)
    subprocess.run([*install, "jsonschema-rs"], check=True, timeout=100)
    assert sdk(python, "test", folder).endswith("1 passed, 0 failed\n")
    script = "import sys, json; from toolhub_sdk.runtimes.python import RUNTIME; from pathlib import Path\n"
    script += "print(json.dumps(RUNTIME.describe(Path(sys.argv[1]), 'text_table')))"
    done = subprocess.run(
        [python, "-c", script, folder],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        timeout=100,
    )
    assert json.loads(done.stdout) == manifest(THIRD_PARTY)


@pytest.mark.sandbox
@pytest.mark.django_db
@pytest.mark.parametrize("name", HERE)
def test_a_hub_installs_an_example_as_the_sdk_packs_it(name: str, tmp_path: Path, settings: Any) -> None:
    settings.DATA = tmp_path
    call_command("package_install", str(EXAMPLES / name), "--yes")
    release = Release.objects.get(package__name=name)
    packed = sdk(sys.executable, "pack", EXAMPLES / name, "--output", tmp_path / "one.zip")
    assert f"release  {release.digest}" in packed
    assert {row.tool.name for row in release.tool_versions.all()} == {
        definition["name"] for definition in manifest(name)["tools"]
    }
