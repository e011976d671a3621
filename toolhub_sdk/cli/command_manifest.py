"""`manifest`: writes toolhub.json from the tools of a Python module."""

import argparse
import json
from pathlib import Path
from typing import Any

from toolhub_sdk.checks.contents import MANIFEST
from toolhub_sdk.cli.package_folder import files_read, manifest_load, manifest_written, module_says
from toolhub_sdk.runtimes.registry import runtime_find


def run(options: argparse.Namespace) -> int:
    """Writes anew what the module says; what it does not say stays as toolhub.json has it."""
    manifest = manifest_write(options.folder)
    what = f"{manifest.get('name')} {manifest.get('version')}, {len(manifest['tools'])} tools"
    print(f"{options.folder / MANIFEST}: {what}")
    return 0


def manifest_write(folder: Path) -> dict[str, Any]:
    """Writes the manifest into the folder and returns it. Raises StopError."""
    files = files_read(folder)
    manifest = manifest_load(folder, files)
    runtime = manifest.get("runtime", {})
    found = runtime_find(str(runtime.get("type")))
    if manifest_written(files) == manifest and found and found.describes:
        manifest |= module_says(folder, runtime)
    (folder / MANIFEST).write_text(manifest_text(manifest), encoding="utf-8")
    return manifest


def manifest_text(manifest: dict[str, Any]) -> str:
    """A manifest as people read it."""
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
