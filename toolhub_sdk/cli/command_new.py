"""`new`: a package to begin with, that passes all checks as it is."""

import argparse
from pathlib import Path
from string import Template

from toolhub_sdk.cli.command_manifest import manifest_write
from toolhub_sdk.package import is_package_name
from toolhub_sdk.runtimes.registry import runtime_of
from toolhub_sdk.stop import StopError


def run(options: argparse.Namespace) -> int:
    """Makes the folder with its files. Raises StopError for a bad name or a folder that is there."""
    folder: Path = options.folder
    name = folder.resolve().name
    if not is_package_name(name):
        raise StopError(f"{name!r} cannot be a package's name: small letters, digits and hyphens.", 2)
    if folder.exists():
        raise StopError(f"{folder} is there already.", 2)
    words = {"name": name, "module": name.replace("-", "_"), "title": name.replace("-", " ").capitalize()}
    folder.mkdir(parents=True)
    runtime = runtime_of(options.kind)
    for template in sorted(runtime.template.iterdir()) if runtime.template else ():
        target = template.name.removesuffix(".template").replace("MODULE", words["module"])
        text = Template(template.read_text(encoding="utf-8")).substitute(words)
        (folder / target).write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            (folder / target).chmod(0o755)
    if runtime.describes:
        manifest_write(folder)
    print(f"Made {folder}. Next: cd {folder} && python -m toolhub_sdk check && python -m toolhub_sdk test")
    return 0
