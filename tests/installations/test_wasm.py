"""A package with a WebAssembly module: compiled when it is installed, tried by its examples, refused if it is none."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from registry.archives.zips import zip_write
from registry.installations import folders
from registry.installations.folders import folders_tidy
from registry.installations.models import Installation
from registry.models import Package
from registry.releases.uninstall import package_uninstall
from security.models import User
from tests.sandbox.packages import tool_of
from tests.sandbox.test_wasm import ECHO, FAULTS, module

pytestmark = pytest.mark.sandbox
Install = Callable[..., Installation]


def zipped(content: bytes) -> bytes:
    definition: dict[str, Any] = tool_of("wasm_echo", sideEffects="pure", examples=[{"arguments": {"x": 1}}])
    manifest = {
        "manifestVersion": "1",
        "name": "wasm-echo",
        "version": "1.0.0",
        "description": "Says what it was asked.",
        "runtime": {"type": "wasm", "entry": "tool.wasm"},
        "tools": [definition],
    }
    return zip_write({"toolhub.json": json.dumps(manifest).encode(), "tool.wasm": content})


def test_a_module_is_compiled_by_its_installation(install: Install) -> None:
    one = install(zipped(module(ECHO)))
    assert one.status == "published", one.error
    lines = list(one.lines.values_list("text", flat=True))
    assert "The module is compiled." in lines
    assert any((settings.DATA / "modules").iterdir())


@pytest.mark.parametrize(
    ("content", "code"), [(b"no module", "INVALID_MANIFEST"), (b"\0asm\1\0\0\0junk", "PACKAGE_REFUSED")]
)
def test_what_is_no_module_is_not_installed(install: Install, content: bytes, code: str) -> None:
    one = install(zipped(content))
    assert (one.status, one.error["code"]) == ("failed", code)


def test_a_module_that_fails_its_example_is_told(install: Install) -> None:
    one = install(zipped(module(FAULTS)))
    assert one.status == "failed"
    assert one.error["code"] in {"SELF_TEST_FAILED", "EXECUTION_FAILED"}


def test_a_compiled_module_goes_when_no_release_has_it(
    install: Install, admin: User, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "KEPT_S", 0.0)
    settings.DATA = tmp_path
    assert install(zipped(module(ECHO))).status == "published"
    modules = tmp_path / "modules"
    (kept,) = modules.iterdir()
    (modules / "half").write_bytes(b"\0")
    (modules / "folder").mkdir()
    assert folders_tidy() == 2
    assert list(modules.iterdir()) == [kept]
    package_uninstall(by=admin, package=Package.objects.get(name="wasm-echo"))
    folders_tidy()
    assert not any(modules.iterdir())
