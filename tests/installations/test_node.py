"""Packages of Node: from a lock with hashes, in the sandbox, without their scripts; shared, and gone when unused."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from registry.archives.zips import zip_write
from registry.installations import folders
from registry.installations.folders import folders_tidy
from registry.models import Package
from registry.releases.uninstall import package_uninstall
from security.models import User
from security.sandbox import probes, remedies
from tests.installations import node_registry
from tests.installations.conftest import Install, called
from tests.sandbox.packages import tool_of
from toolhub_sdk.checks.node import UnfitLock, node_lock_read

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("npm") is None, reason="this machine has no npm"),
]
# One in the old style of modules and one in the new: Node looks for their packages by different ways.
TOOLS = {
    "old.cjs": 'const twice = require("twice"), fs = require("fs");\n',
    "new.mjs": 'import twice from "twice";\nimport fs from "fs";\n',
}
BODY = """
const { arguments: given } = JSON.parse(fs.readFileSync(0, "utf8"));
let wrote = true;
try { fs.writeFileSync(`${given.folder}/new`, "x"); } catch { wrote = false; }
console.log(JSON.stringify({ said: twice(given.word), wrote }));
"""


def zipped(name: str = "said-twice", version: str = "1.0.0", **changes: Any) -> bytes:
    examples = [
        {
            "arguments": {"word": "ab", "folder": "node_modules/twice"},
            "result": {"said": "abab", "wrote": False},
        }
    ]
    bounds = {"maxMemoryBytes": 512 << 20}
    file = "new.mjs" if name.endswith("new") else "old.cjs"
    manifest = {
        "manifestVersion": "1",
        "name": name,
        "version": version,
        "description": "Says a word twice.",
        "runtime": {"type": "command", "entry": ["node", file], "requires": "package-lock.json"},
        "tools": [
            tool_of(name.replace("-", "_"), sideEffects="pure", examples=examples, resourceBounds=bounds)
        ],
    }
    contents = {file: (TOOLS[file] + BODY).encode(), **node_registry.files(**changes)}
    return zip_write({"toolhub.json": json.dumps(manifest).encode(), **contents})


@pytest.fixture
def registry(settings: Any, tmp_path: Path) -> Iterator[None]:
    """An own machine's folder, and a registry that an admin named and allowed."""
    settings.DATA = tmp_path
    with node_registry.registry_running() as port:
        settings.NPM_REGISTRY = f"http://127.0.0.1:{port}/"
        settings.HTTP_ALLOW = [f"127.0.0.1:{port}"]
        yield
    probes.probe.cache_clear()


def call(tool: str) -> Any:
    done = called(tool, word="ho", folder="node_modules/@here/times")
    assert done.sandbox is not None, done
    return done.sandbox["level"], done.data, done.error


def test_a_tool_of_node_has_the_packages_of_its_lock(
    registry: None, install: Install, admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = install(zipped())
    assert one.status == "published", (one.error, list(one.lines.values_list("text", flat=True)))
    assert one.report["dependencies"] == ["@here/times@2.0.1", "twice@1.2.0"]
    assert ("INSTALL_SCRIPT", "/runtime/requires") in [
        (w["code"], w["pointer"]) for w in one.report["warnings"]
    ]
    (environment,) = (tmp_path / "environments").iterdir()
    modules = environment / "node_modules"
    assert [each.name for each in environment.iterdir()] == ["node_modules"]
    assert not (modules / "@here" / "times" / "mark").exists(), "no script of a package was run"
    assert modules.stat().st_uid == tmp_path.stat().st_uid
    assert call("said_twice") == ("isolated", {"said": "hoho", "wrote": False}, None)
    assert install(zipped("said-twice-new")).status == "published"
    assert [each.name for each in (tmp_path / "environments").iterdir()] == [environment.name], "it is shared"
    probes.probe.cache_clear()
    for each in (probes, remedies):
        monkeypatch.setattr(each, "bubblewrap", lambda: None)
    for tool in ("said_twice", "said_twice_new"):
        assert call(tool) == ("confined", {"said": "hoho", "wrote": False}, None)
    monkeypatch.setattr(folders, "KEPT_S", 0.0)
    for name in ("said-twice", "said-twice-new"):
        assert environment.is_dir()
        package_uninstall(by=admin, package=Package.objects.get(name=name))
        folders_tidy()
    assert not environment.exists()


def test_a_package_that_is_not_the_one_of_the_lock_is_not_installed(registry: None, install: Install) -> None:
    one = install(zipped(integrity=node_registry.integrity("@here/times")))
    assert (one.status, one.step, one.error["code"]) == ("failed", "prepare", "DEPENDENCY_MISSING")
    assert "EINTEGRITY" in str(one.error["details"]["said"])


def test_a_registry_that_nobody_allowed_is_not_reached(
    registry: None, install: Install, settings: Any
) -> None:
    settings.HTTP_ALLOW = []
    one = install(zipped())
    assert one.error["code"] == "DEPENDENCY_MISSING"
    assert "was refused" in str(one.error["details"]["said"])


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"integrity": None}, "no hash"),
        ({"integrity": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="}, "no hash"),
        ({"version": "^1.2.0"}, "no exact version"),
        ({"resolved": "git+ssh://git@example.org/a/b.git#abc"}, "repository or a file"),
        ({"resolved": "file:../twice.tgz"}, "repository or a file"),
        ({"link": True}, "folder or a link"),
        ({"integrity": None, "inBundle": True}, "within another package"),
        ({"hasShrinkwrap": True}, "a lock of its own"),
        ({"name": "../../twice"}, "folder or a link"),
        ({"dependencies": {"@here/times": "git+https://example.org/times.git"}}, "not by its version"),
        ({"dependencies": {"@here/times": "https://example.org/times.tgz"}}, "not by its version"),
        ({"dependencies": {"@here/times": "file:../times"}}, "not by its version"),
        ({"dependencies": {"@here/times": "here/times"}}, "not by its version"),
        ({"peerDependencies": {"../up": "1.0.0"}}, "not by its version"),
    ],
)
def test_what_is_no_package_by_version_and_hash_is_refused(changes: dict[str, Any], why: str) -> None:
    files = node_registry.files(**changes)
    with pytest.raises(UnfitLock, match=why):
        node_lock_read(files["package-lock.json"], files["package.json"])


def test_a_lock_is_that_of_its_package_and_keeps_no_address() -> None:
    address = "https://registry.example.org/twice/-/twice-1.2.0.tgz"
    files = node_registry.files(resolved=address, _resolved=address, _hasShrinkwrap=True)
    read = node_lock_read(files["package-lock.json"], files["package.json"])
    assert "example.org" not in str(read)
    assert set(read["packages"]["node_modules/twice"]) == {"version", "integrity", "dependencies"}
    assert list(read["packages"]) == ["", "node_modules/@here/times", "node_modules/twice"]
    for package, why in (
        (None, "no package.json"),
        (b'{"dependencies": {"twice": "^2.0.0"}}', "name other dependencies"),
    ):
        with pytest.raises(UnfitLock, match=why):
            node_lock_read(files["package-lock.json"], package)


def test_a_lock_that_is_none_is_refused_before_anything_is_fetched(install: Install) -> None:
    one = install(zipped(resolved="file:../twice.tgz"))
    assert (one.status, one.step, one.error["code"]) == ("failed", "verify", "REQUIREMENTS_REFUSED")
