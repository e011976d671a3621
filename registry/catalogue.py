"""Discovers the hub's own tools and publishes what is new. No app imports the catalogue; it is found.

Modules hold built-in tools, which are trusted. Below `packages` stand packages like anybody's, whose code
runs in the sandbox alone.
"""

import hashlib
import importlib
import json
import pkgutil
from pathlib import Path
from types import ModuleType

from core.actors import SYSTEM
from registry.archives.zips import zip_write
from registry.models import Archive, Release
from registry.releases.draft import release_draft
from registry.releases.publish import draft_publish, release_publish
from toolhub_sdk.package import manifest_of
from toolhub_sdk.runtimes.registry import own_runtime


def catalogue_modules(package: str) -> list[ModuleType]:
    """The modules of the catalogue package that declare a PACKAGE, by name."""
    root = importlib.import_module(package)
    found = [
        importlib.import_module(f"{package}.{item.name}") for item in pkgutil.iter_modules(root.__path__)
    ]
    return [module for module in found if hasattr(module, "PACKAGE")]


def catalogue_sync(package: str) -> list[Release]:
    """Publishes each package whose version is not there yet; returns the new releases."""
    published = _packages_sync(Path(str(importlib.import_module(package).__file__)).parent / "packages")
    for module in catalogue_modules(package):
        manifest = manifest_of(module, module.PACKAGE, runtime=own_runtime().name)
        name, version = manifest["name"], manifest["version"]
        if _is_published(name, version):
            continue
        source = Path(str(module.__file__))
        digest = hashlib.sha256(source.read_bytes()).hexdigest()
        published.append(release_publish(by=SYSTEM, manifest=manifest, files={source.name: digest}))
    return published


def _packages_sync(above: Path) -> list[Release]:
    published = []
    for folder in sorted(path.parent for path in above.glob("*/toolhub.json")):
        contents = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
        manifest = json.loads(contents["toolhub.json"])
        if _is_published(manifest["name"], manifest["version"]):
            continue
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        draft = release_draft(manifest=manifest, files=digests)
        packed = zip_write(contents)
        archive = Archive(digest=draft.release.digest, content=packed, size=len(packed), files=digests)
        published.append(draft_publish(by=SYSTEM, draft=draft, archive=archive))
    return published


def _is_published(name: str, version: str) -> bool:
    return Release.objects.filter(package__name=name, version=version).exists()
