"""The lint of a package against what this hub has installed."""

from collections.abc import Iterator, Mapping
from typing import Any

from registry.lint import LintWarning, warnings_of
from registry.models import Package, Tool
from security.sharing.groups import group_exists
from toolhub_sdk.checks.recovery import fallback_of
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.problem import pointer


def release_warnings(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> list[LintWarning]:
    """As `warnings_of`, with the names of other packages here and of their tools, and missing names.

    Those are fallbacks, and groups to which a waiting run is escalated.
    """
    others = Package.objects.exclude(name=manifest["name"])
    found = warnings_of(
        manifest,
        files,
        packages=set(others.values_list("name", flat=True)),
        tools=set(Tool.objects.filter(package__in=others).values_list("name", flat=True)),
    )
    return [*found, *_fallbacks(manifest), *_escalations(manifest)]


def _escalations(manifest: Mapping[str, Any]) -> Iterator[LintWarning]:
    for index, tool in enumerate(manifest["tools"]):
        recovery = tool.get("_meta", {}).get(CONTRACT, {}).get("recovery", {})
        name = recovery.get("escalation", {}).get("to")
        if name and not group_exists(name):
            at = pointer(["tools", index, "_meta", CONTRACT, "recovery", "escalation", "to"])
            words = f"There is no group {name} here. Until there is, nobody is notified of runs that wait."
            yield LintWarning("GROUP_MISSING", at, words)


def _fallbacks(manifest: Mapping[str, Any]) -> Iterator[LintWarning]:
    own = {tool["name"] for tool in manifest["tools"]}
    for index, tool in enumerate(manifest["tools"]):
        name = fallback_of(tool)
        if name and name not in own and not Tool.objects.filter(name=name, active__isnull=False).exists():
            at = pointer(["tools", index, "_meta", CONTRACT, "recovery", "fallbackTool"])
            words = f"There is no tool {name} here yet. Until there is, nothing is called instead."
            yield LintWarning("FALLBACK_MISSING", at, words)
