"""`check`: every check that a hub makes, and the advice that its reviewers see."""

import argparse
from pathlib import Path
from typing import Any

from toolhub_sdk.checks.files import file_problems
from toolhub_sdk.checks.manifest import manifest_problems
from toolhub_sdk.checks.problem import Problem
from toolhub_sdk.cli.package_folder import files_read, manifest_load
from toolhub_sdk.lint.review import warnings_of
from toolhub_sdk.lint.warning import LintWarning


def run(options: argparse.Namespace) -> int:
    """Prints problems and warnings; 1 when there is a problem, with --strict also for a warning."""
    manifest, problems, warnings = package_check(options.folder)
    for each in problems:
        print(f"error    {each.pointer or '/'}: {each.message} {each.remedy}")
    for warning in warnings:
        print(f"warning  {warning.code} {warning.pointer or '/'}: {warning.message}")
    failed = bool(problems or (options.strict and warnings))
    name = f"{manifest.get('name')} {manifest.get('version')}"
    print(f"{name}: {len(problems)} errors, {len(warnings)} warnings")
    return 1 if failed else 0


def package_check(folder: Path) -> tuple[dict[str, Any], list[Problem], list[LintWarning]]:
    """The manifest with its problems and, when it has none, the warnings. Raises StopError."""
    files = files_read(folder)
    manifest = manifest_load(folder, files)
    problems = manifest_problems(manifest) or list(file_problems(manifest, files))
    return manifest, problems, [] if problems else warnings_of(manifest, files)
