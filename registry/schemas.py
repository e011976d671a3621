"""Argument and result validation. Compiled once per tool version and kept in the process.

jsonschema-rs decides and explains: offline, patterns in linear time.
"""

import functools
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from core.errors import InvalidRequest
from toolhub_sdk.checks.engine import Error, Validator
from toolhub_sdk.checks.mismatch import mismatches_of
from toolhub_sdk.checks.schemas import schema_compile
from toolhub_sdk.problem import pointer

__all__ = [
    "ERRORS_SHOWN",
    "Validator",
    "input_validator",
    "output_validator",
    "pointer",
    "problems_of",
    "problems_of_part",
    "size_problems_of",
    "validator_build",
]

ERRORS_SHOWN = 20
TOO_LARGE = "This does not fit the schema; it is too large to say where."
_SIZE_KEYWORDS = frozenset({"maxLength", "maxItems", "maxProperties"})
# What these say of an object holds whatever the values of its members are.
_MEMBER_KEYWORDS = frozenset({"required", "additionalProperties", "minProperties", "maxProperties"})


def validator_build(schema: Mapping[str, Any]) -> Validator:
    """Compiles a schema by the `$schema` it names, else 2020-12.

    Raises InvalidRequest when it is none, refers outside itself or is beyond the budgets of
    `toolhub_sdk.checks.schemas`; nothing is ever fetched.
    """
    made = schema_compile(schema)
    if isinstance(made, list):
        raise InvalidRequest(
            f"The schema is not valid here: {made[0].message}",
            errors=[{"pointer": each.pointer, "message": each.message} for each in made[:ERRORS_SHOWN]],
            suggestions=[made[0].remedy],
        )
    return made


def problems_of(validator: Validator, value: Any) -> list[dict[str, str]]:
    """What does not fit, as `{pointer, message}`, at most 20; empty when all does.

    For a large value only the first member that is wrong, when one alone is.
    """
    if validator.is_valid(value):
        return []
    errors = validator.errors(value)
    if errors is None:
        return [{"pointer": pointer(validator.culprit(value)), "message": TOO_LARGE}]
    return _explained(errors, validator)


def _explained(errors: Iterable[Error], validator: Validator) -> list[dict[str, str]]:
    found = [one for error in errors for one in mismatches_of(error, validator.schema)][:ERRORS_SHOWN]
    return [{"pointer": pointer(one.path), "message": one.message} for one in found]


def size_problems_of(validator: Validator, value: Any) -> list[dict[str, str]]:
    """As `problems_of`, only for texts, lists and objects that are too large."""
    if validator.is_valid(value):
        return []
    errors = validator.errors(value) or ()
    return _explained((error for error in errors if error.kind.name in _SIZE_KEYWORDS), validator)


def problems_of_part(
    validator: Validator, value: Mapping[str, Any], missing: Collection[str]
) -> list[dict[str, str]]:
    """As `problems_of` for an object whose `missing` members come later: only what they cannot mend.

    What is too large to be explained is left to the check of the whole.
    """
    whole = {**dict.fromkeys(missing), **value}
    return _explained(
        (error for error in validator.errors(whole) or () if not _mended_later(error, missing)), validator
    )


def _mended_later(error: Error, missing: Collection[str]) -> bool:
    path = error.instance_path
    return path[0] in missing if path else error.kind.name not in _MEMBER_KEYWORDS


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
