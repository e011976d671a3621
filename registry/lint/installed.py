"""The lint of a package against what this hub has installed."""

from collections.abc import Mapping
from typing import Any

from registry.lint import LintWarning, warnings_of
from registry.models import Package, Tool


def release_warnings(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> list[LintWarning]:
    """As `warnings_of`, with the names of the other packages here and of their tools."""
    others = Package.objects.exclude(name=manifest["name"])
    return warnings_of(
        manifest,
        files,
        packages=set(others.values_list("name", flat=True)),
        tools=set(Tool.objects.filter(package__in=others).values_list("name", flat=True)),
    )
