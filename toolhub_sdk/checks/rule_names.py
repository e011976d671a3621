"""Which arguments a rule of a contract names."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from toolhub_sdk.checks.near import did_you_mean
from toolhub_sdk.checks.schema_parts import members_of, properties_of

_STRING = re.compile(r"""[rR]?("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")
_MEMBER = re.compile(r"\barguments\s*\.\s*([A-Za-z_]\w*)\b(?!\s*\()")
_ITEM = re.compile(r"""\barguments\s*\[\s*["']([^"'\\]+)["']\s*\]""")
# What a rule asks for before it looks is no fault where it is gone.
_ASKED = re.compile(r"\bhas\s*\(\s*arguments\s*\.\s*([A-Za-z_]\w*)\s*\)")


def names_gone(rule: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments that a rule names and that an input schema does not describe."""
    known = set(members_of(schema, schema))
    return tuple(sorted(_named(rule) - known))


def unknown_argument(rule: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Return in words the first argument that an expression names and no call can have; empty for none.

    A schema that takes any members has every name.
    """
    gone = names_gone(rule, schema)
    if not gone or schema.get("additionalProperties", True) is not False:
        return ""
    known = properties_of(schema, schema)
    return (
        f"It names arguments.{gone[0][:80]}, which the tool does not take.{did_you_mean(gone[0], known)}"
        f" Arguments: {', '.join(known) or 'none'}."
    )


def _named(rule: Mapping[str, Any]) -> set[str]:
    text = str(rule["expression"])
    bare = _STRING.sub("''", text)
    return {*_ITEM.findall(text), *_MEMBER.findall(bare), *_of_pointer(rule)} - set(_ASKED.findall(bare))


def _of_pointer(rule: Mapping[str, Any]) -> Iterable[str]:
    first = str(rule.get("pointer", "")).removeprefix("/").split("/")[0]
    return [first.replace("~1", "/").replace("~0", "~")] if first else []
