"""`check`: every check that a hub makes, and the advice that its reviewers see."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolhub_sdk.checks.contents import MANIFEST
from toolhub_sdk.checks.package import package_problems
from toolhub_sdk.cli.package_folder import files_read, manifest_load, module_says
from toolhub_sdk.lint.review import warnings_of
from toolhub_sdk.lint.warning import LintWarning
from toolhub_sdk.problem import Problem
from toolhub_sdk.runtimes.registry import runtime_of
from toolhub_sdk.stop import StopError


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
    problems = package_problems(manifest, files) or list(_code_problems(manifest, files))
    if problems:
        return manifest, problems, []
    return manifest, [], [*_stale(folder, manifest, files), *warnings_of(manifest, files)]


def _code_problems(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[Problem]:
    runtime = manifest["runtime"]
    yield from runtime_of(runtime["type"]).code_problems(runtime, files)


def _stale(folder: Path, manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[LintWarning]:
    """What the module says otherwise than toolhub.json has it."""
    runtime = manifest["runtime"]
    if not runtime_of(runtime["type"]).describes or MANIFEST not in files:
        return
    try:
        said = module_says(folder, runtime)
    except StopError:
        # A module without @tool, or one that needs what is not installed here.
        return
    made, written = ({tool["name"]: tool for tool in one.pop("tools")} for one in (said, dict(manifest)))
    other = [name for name in said if said[name] != manifest.get(name)]
    other += [f"the tool {name}" for name in {**made, **written} if made.get(name) != written.get(name)]
    if other:
        message = f"The module {runtime['entry']} says otherwise: {', '.join(other)}. Run `manifest`."
        yield LintWarning("MANIFEST_STALE", "", message)
