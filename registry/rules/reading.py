"""Reads rules: what one says of a call that nobody makes, and which arguments it names that are gone."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from registry.models import Release, Tool
from registry.rules.judge import Rule, rule_values, rules_broken

_STRING = re.compile(r"""[rR]?("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")
_MEMBER = re.compile(r"\barguments\s*\.\s*([A-Za-z_]\w*)\b(?!\s*\()")
_ITEM = re.compile(r"""\barguments\s*\[\s*["']([^"'\\]+)["']\s*\]""")
# What a rule asks for before it looks is no fault where it is gone.
_ASKED = re.compile(r"\bhas\s*\(\s*arguments\s*\.\s*([A-Za-z_]\w*)\s*\)")


@dataclass(frozen=True)
class Told:
    """An added rule with the arguments that it names and that the tool lacks: it refuses each call."""

    rule: Rule
    gone: tuple[str, ...]


def rules_told(tool: Tool) -> list[Told]:
    """The added rules of a tool, by its version in use."""
    schema = tool.active.definition.get("inputSchema", {}) if tool.active else {}
    return [Told(one, names_gone(one, schema)) for one in tool.rules]


def names_gone(rule: Rule, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments that a rule names and that an input schema does not describe."""
    known = set(schema.get("properties", {}))
    return tuple(sorted(_named(rule) - known))


def stranded_words(release: Release) -> list[str]:
    """One sentence for each added rule that names arguments which this release's tools lack."""
    return [
        f"A rule of {version.tool.name} names {', '.join(gone)}, which it lacks: it will refuse every call"
        f" ({rule['expression'][:80]})."
        for version in release.tool_versions.select_related("tool")
        for rule in version.tool.rules
        if (gone := names_gone(rule, version.definition.get("inputSchema", {})))
    ]


def rule_try(
    rule: Rule, arguments: Mapping[str, Any], context: Mapping[str, Any], persona: str, tier: str
) -> str:
    """What a caller would read; empty where the rule holds. The arguments are held to no schema."""
    broken = rules_broken([rule], rule_values(arguments, context, {}, persona, tier))
    return broken[0][1]["message"] if broken else ""


def _named(rule: Rule) -> set[str]:
    text = str(rule["expression"])
    bare = _STRING.sub("''", text)
    return {*_ITEM.findall(text), *_MEMBER.findall(bare), *_of_pointer(rule)} - set(_ASKED.findall(bare))


def _of_pointer(rule: Rule) -> Iterable[str]:
    first = str(rule.get("pointer", "")).removeprefix("/").split("/")[0]
    return [first.replace("~1", "/").replace("~0", "~")] if first else []
