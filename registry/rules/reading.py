"""Reads rules: what one says of a call that nobody makes, and which arguments it names that are gone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.models import Release, Tool
from registry.rules.judge import Rule, rule_values, rules_broken
from security.models import User
from security.sharing.reach import about
from toolhub_sdk.checks.rule_names import names_gone


@dataclass(frozen=True)
class Told:
    """An added rule with the arguments that it names and that the tool lacks: it refuses each call."""

    rule: Rule
    gone: tuple[str, ...]


def rules_told(tool: Tool) -> list[Told]:
    """The added rules of a tool, by its version in use."""
    schema = tool.active.definition.get("inputSchema", {}) if tool.active else {}
    return [Told(one, names_gone(one, schema)) for one in tool.rules]


def stranded_words(release: Release, by: User) -> list[str]:
    """One sentence for each added rule that names arguments which this release's tools lack.

    Of tools that the person sees.
    """
    versions = about(
        by, release.tool_versions.select_related("tool"), "registry.view_tool", tool="tool__name"
    )
    return [
        f"A rule of {version.tool.name} names {', '.join(gone)}, which it lacks: it will refuse every call"
        f" ({rule['expression'][:80]})."
        for version in versions
        for rule in version.tool.rules
        if (gone := names_gone(rule, version.definition.get("inputSchema", {})))
    ]


def rule_try(
    rule: Rule, arguments: Mapping[str, Any], context: Mapping[str, Any], persona: str, tier: str
) -> str:
    """What a caller would read; empty where the rule holds. The arguments are held to no schema."""
    broken = rules_broken([rule], rule_values(arguments, context, {}, persona, tier))
    return broken[0][1]["message"] if broken else ""
