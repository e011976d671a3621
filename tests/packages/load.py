"""Packages of this folder as the hub takes them in."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from registry.models import Release
from tests.sandbox.packages import publish
from toolhub_sdk import manifest_of

HERE = Path(__file__).parent


def module_load(name: str) -> ModuleType:
    """The package's module, under its own name."""
    spec = importlib.util.spec_from_file_location(name, HERE / name / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package_files(name: str, change: Any = None) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Manifest and files of a package; `change` may do something to the manifest first."""
    module = module_load(name)
    manifest = manifest_of(module, module.PACKAGE, runtime="python")
    if change:
        change(manifest)
    code = (HERE / name / f"{name}.py").read_bytes()
    return manifest, {"toolhub.json": json.dumps(manifest).encode(), f"{name}.py": code}


def package_publish(name: str, change: Any = None) -> Release:
    """Publishes a package with its files."""
    return publish(*package_files(name, change))
