"""Discovers the built-in tools and publishes what is new. No app imports the catalogue; it is found."""

import hashlib
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

from core.actors import SYSTEM
from registry.models import Release
from registry.releases.publish import release_publish
from toolhub_sdk.package import manifest_of


def catalogue_modules(package: str) -> list[ModuleType]:
    """The modules of the catalogue package that declare a PACKAGE, by name."""
    root = importlib.import_module(package)
    found = [
        importlib.import_module(f"{package}.{item.name}") for item in pkgutil.iter_modules(root.__path__)
    ]
    return [module for module in found if hasattr(module, "PACKAGE")]


def catalogue_sync(package: str) -> list[Release]:
    """Publishes each module's package whose version is not there yet; returns the new releases."""
    published = []
    for module in catalogue_modules(package):
        manifest = manifest_of(module, module.PACKAGE)
        name, version = manifest["name"], manifest["version"]
        if Release.objects.filter(package__name=name, version=version).exists():
            continue
        source = Path(str(module.__file__))
        digest = hashlib.sha256(source.read_bytes()).hexdigest()
        published.append(release_publish(by=SYSTEM, manifest=manifest, files={source.name: digest}))
    return published
