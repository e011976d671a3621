"""Argument and result validation. Compiled once per tool version and kept in the process.

jsonschema-rs decides and explains: offline, patterns in linear time.
"""

import functools
from collections.abc import Collection, Mapping
from typing import Any

from core.errors import InvalidRequest
from toolhub_sdk.checks.engine import Validator, compiled
from toolhub_sdk.checks.problem import pointer
from toolhub_sdk.checks.schemas import schema_problems

__all__ = [
    "ERRORS_SHOWN",
    "Validator",
    "input_validator",
    "output_validator",
    "pointer",
    "problems_of",
    "problems_of_part",
    "validator_build",
]

ERRORS_SHOWN = 20
# What these say of an object holds whatever the values of its members are.
_MEMBER_KEYWORDS = frozenset({"required", "additionalProperties", "minProperties", "maxProperties"})


def validator_build(schema: Mapping[str, Any]) -> Validator:
    """Compiles a schema by the `$schema` it names, else 2020-12.

    Raises InvalidRequest when it is none, refers outside itself or is beyond the budgets of
    `toolhub_sdk.checks.schemas`; nothing is ever fetched.
    """
    problems = schema_problems(schema)
    if problems:
        raise InvalidRequest(
            f"The schema is not valid here: {problems[0].message}",
            errors=[{"pointer": each.pointer, "message": each.message} for each in problems[:ERRORS_SHOWN]],
            suggestions=[problems[0].remedy],
        )
    return compiled(schema)


def problems_of(validator: Validator, value: Any) -> list[dict[str, str]]:
    """What does not fit, as `{pointer, message}`, at most 20; empty when all does."""
    if validator.is_valid(value):
        return []
    found = []
    for error in validator.iter_errors(value):
        found.append({"pointer": pointer(error.instance_path), "message": error.message[:300]})
        if len(found) == ERRORS_SHOWN:
            break
    return found


def problems_of_part(
    validator: Validator, value: Mapping[str, Any], missing: Collection[str]
) -> list[dict[str, str]]:
    """As `problems_of` for an object whose `missing` members come later: only what they cannot mend."""
    whole = {**dict.fromkeys(missing), **value}
    found = []
    for error in validator.iter_errors(whole):
        path = error.instance_path
        mended_later = path[0] in missing if path else error.kind.name not in _MEMBER_KEYWORDS
        if not mended_later:
            found.append({"pointer": pointer(path), "message": error.message[:300]})
        if len(found) == ERRORS_SHOWN:
            break
    return found


@functools.lru_cache(maxsize=4096)
def _cached(digest: str, which: str, source: "DefinitionSource") -> Validator | None:
    schema = source.definition.get(which)
    return None if schema is None else validator_build(schema)


class DefinitionSource:
    """Carries a definition past the cache's key: equal for equal digests."""

    __slots__ = ("definition", "digest")

    def __init__(self, digest: str, definition: Mapping[str, Any]) -> None:
        self.digest = digest
        self.definition = definition

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DefinitionSource) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def input_validator(digest: str, definition: Mapping[str, Any]) -> Validator:
    """The compiled `inputSchema` of the tool version with this digest."""
    found = _cached(digest, "inputSchema", DefinitionSource(digest, definition))
    if found is None:
        raise InvalidRequest("The tool has no input schema.")
    return found


def output_validator(digest: str, definition: Mapping[str, Any]) -> Validator | None:
    """The compiled `outputSchema`, or None where the tool declares none."""
    return _cached(digest, "outputSchema", DefinitionSource(digest, definition))
