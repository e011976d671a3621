"""All that a hub looks at before it takes a package: its files, its manifest, and what one says of the other.

A hub makes the same checks one after the other, each where it has what it needs.
"""

from collections.abc import Mapping
from typing import Any

from toolhub_sdk.checks.contents import contents_unfit
from toolhub_sdk.checks.files import file_problems, requirement_problems
from toolhub_sdk.checks.manifest import manifest_problems
from toolhub_sdk.problem import Problem


def package_problems(manifest: Any, files: Mapping[str, bytes]) -> list[Problem]:
    """What is wrong with a package whose manifest is this; empty for one that a hub takes."""
    unfit = contents_unfit(files)
    if unfit:
        remedy = "Rename the file." if unfit.path else "Leave out what the tools do not need."
        return [Problem("", unfit.message, remedy)]
    return manifest_problems(manifest) or [
        *file_problems(manifest, files),
        *requirement_problems(manifest, files),
    ]
