"""Compiles JSON Schemas: offline, formats asserted, patterns in linear time. The hub uses just this.

Saying whether a value fits takes next to no time. Saying what does not fit makes an error of each branch that
was tried, at each place, all at once: what would take long is not explained in full.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jsonschema_rs

from toolhub_sdk.checks.expense import looks_of
from toolhub_sdk.checks.graph import Graph

Error = jsonschema_rs.ValidationError
Refusal = (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError)
"""What `compiled` raises for a schema that is none."""
# Errors that may be made, at 10 to 20 µs each.
EFFORT = 20_000
TRIED_MAX = 20


class Validator:
    """A compiled schema and its source; it may look `looks` times at one part of a value (expense.py)."""

    __slots__ = ("_iter_errors", "_looks", "is_valid", "schema")

    is_valid: Callable[[Any], bool]

    def __init__(
        self,
        schema: Mapping[str, Any],
        made: jsonschema_rs.Draft202012Validator | jsonschema_rs.Draft7Validator,
        looks: int,
    ) -> None:
        self.schema = schema
        self.is_valid = made.is_valid
        self._iter_errors = made.iter_errors
        self._looks = looks

    def errors(self, value: Any, effort: int = EFFORT) -> Sequence[Error] | None:
        """All that does not fit; None where more than `effort` errors might be made for it."""
        most = effort // self._looks
        return None if _parts(value, most) > most else list(self._iter_errors(value))

    def culprit(self, value: Any) -> list[str | int]:
        """The path of a member without which the value fits; empty when there is none, or it has no members.

        For what `errors` does not explain. At most 20 members are tried.
        """
        if isinstance(value, Mapping):
            for name in list(value)[:TRIED_MAX]:
                if self.is_valid({other: part for other, part in value.items() if other != name}):
                    return [name]
        return []


def _parts(value: Any, most: int) -> int:
    """How many values there are in a value; counting ends beyond `most`."""
    pending, count = [value], 0
    while pending and count <= most:
        node = pending.pop()
        count += 1
        if isinstance(node, (dict, list)):
            count += len(node) if len(pending) + len(node) > most else 0
            pending.extend(node.values() if isinstance(node, dict) else node)
    return count


# By the address that `$schema` names, without scheme and empty fragment.
DIALECTS: Mapping[str, Any] = {
    "json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
    "json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
}
ADDRESSES = ("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#")


def dialect_of(schema: Mapping[str, Any]) -> str:
    """Return the key in DIALECTS of the dialect that a schema names, 2020-12 where it names none.

    Raises ValueError for a dialect by whose rules the hub cannot judge.
    """
    named = schema.get("$schema", ADDRESSES[0])
    bare = re.sub(r"^https?://", "", named).removesuffix("#") if isinstance(named, str) else ""
    if bare not in DIALECTS:
        raise ValueError(f"The dialect {str(named)[:100]!r} is unknown.")
    return bare


def compiled(schema: Mapping[str, Any], looks: int | None = None) -> Validator:
    """The validator of a schema by the `$schema` it names (2020-12 or draft-07). Nothing is ever fetched.

    Raises one of Refusal.
    """
    kind = DIALECTS[dialect_of(schema)]
    made = kind(
        dict(schema), validate_formats=True, pattern_options=jsonschema_rs.RegexOptions(), offline=True
    )
    return Validator(schema, made, looks_of(Graph(schema)) if looks is None else looks)
