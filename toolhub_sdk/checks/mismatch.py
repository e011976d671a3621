"""What does not fit a JSON Schema, in words for a model or a person: expected, given, near names."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolhub_sdk.checks.engine import Error
from toolhub_sdk.checks.formats import FORMAT_EXAMPLES
from toolhub_sdk.checks.near import did_you_mean
from toolhub_sdk.checks.schema_parts import hides, part_at, properties_of

SHOWN = 80
LIST_MOST = 800
NAMES_MOST = 30
MESSAGE_MOST = 1_500
BRANCHES_MOST = 4
_TYPES: Mapping[str, str] = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}
_COUNTED: Mapping[str, tuple[str, str]] = {
    "minLength": ("at least {} characters", "{} characters"),
    "maxLength": ("at most {} characters", "{} characters"),
    "minItems": ("at least {} items", "{} items"),
    "maxItems": ("at most {} items", "{} items"),
    "minProperties": ("at least {} members", "{} members"),
    "maxProperties": ("at most {} members", "{} members"),
}
_COMPARED: Mapping[str, str] = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
}


@dataclass(frozen=True)
class Mismatch:
    """One place that does not fit: its path from the value's root, and the words."""

    path: tuple[str | int, ...]
    message: str


def mismatches_of(error: Error, schema: Mapping[str, Any]) -> list[Mismatch]:
    """Return the words for one error of a validator of the schema; one for each unknown member."""
    path = tuple(error.instance_path)
    if error.kind.name in ("additionalProperties", "unevaluatedProperties"):
        known = properties_of(part_at(schema, error.schema_path[:-1]), schema)
        return [
            Mismatch((*path, name) if len(name) <= SHOWN else path, unknown_words(name, known))
            for name in error.kind.as_dict()["unexpected"][:NAMES_MOST]
        ]
    meant = _meant(error) if error.kind.name in ("anyOf", "oneOf") else []
    if meant:
        return [one for inner in meant for one in mismatches_of(inner, schema)]
    return [Mismatch(path, _words(error, schema)[:MESSAGE_MOST])]


def _meant(error: Error) -> Sequence[Error]:
    """The errors of the only branch that takes values of this type; none where there are several."""
    place = list(error.instance_path)
    kind = [
        branch
        for branch in error.kind.as_dict()["context"]
        if not any(each.kind.name == "type" and list(each.instance_path) == place for each in branch)
    ]
    return kind[0] if len(kind) == 1 else []


def unknown_words(name: str, known: Sequence[str]) -> str:
    """Return the words for a member that is not known, with the names that are."""
    names = f" Known: {listed(known, NAMES_MOST, plain=True)}." if known else " No members are allowed here."
    return f"Unknown member {shown(name)}.{did_you_mean(name, known)}{names}"


def shown(value: Any) -> str:
    """Return a value as JSON on one line, cut where it is long."""
    text = json.dumps(value[: SHOWN + 1] if isinstance(value, str) else value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def listed(values: Sequence[Any], most: int, *, plain: bool = False) -> str:
    """Return values with commas between, all of them where there are few, else the first and their number."""
    texts: list[str] = []
    for value in values[:most]:
        texts.append(str(value)[:SHOWN] if plain else shown(value))
        if sum(map(len, texts)) > LIST_MOST:
            break
    left = len(values) - len(texts)
    more = f" and {left} more (the tool's schema lists all {len(values)})" if left else ""
    return f"{', '.join(texts)}{more}"


def given_words(value: Any, hidden: bool = False) -> str:
    """Return what was given: its kind, and the value where it is short and no secret."""
    match value:
        case None | True | False:
            return shown(value)
        case str():
            return "a string (not shown)" if hidden else f"the string {shown(value)}"
        case int() | float():
            return f"the number {shown(value)}"
        case Mapping():
            return f"an object with {listed(list(value), 5, plain=True)}" if value else "an empty object"
        case _:
            return f"an array of {len(value)} item{'' if len(value) == 1 else 's'}"


def types_words(types: Sequence[str]) -> str:
    """Return types as words: `a string or null`."""
    return " or ".join(_TYPES.get(one, one) for one in types)


def _words(error: Error, schema: Mapping[str, Any]) -> str:
    name, told = error.kind.name, error.kind.as_dict()
    part = part_at(schema, error.schema_path[:-1])
    value: Any = error.instance
    given = given_words(value, hides(part))
    if name in _COUNTED:
        wanted, had = _COUNTED[name]
        return f"Expected {wanted.format(told['limit'])}; got {had.format(len(value))}."
    if name in _COMPARED:
        limit = told.get("limit", told.get("multiple_of"))
        return f"Expected a number that is {_COMPARED[name].format(shown(limit))}; got {given}."
    explain = _KINDS.get(name)
    return explain(error, told, given, schema) if explain else f"{error.message[:300]}."


def _type(error: Error, told: Mapping[str, Any], given: str, schema: Mapping[str, Any]) -> str:
    return f"Expected {types_words(told['types'])}; got {given}."


def _enum(error: Error, told: Mapping[str, Any], given: str, schema: Mapping[str, Any]) -> str:
    options = told["options"]
    texts = [one for one in options if isinstance(one, str)]
    near = did_you_mean(error.instance, texts) if isinstance(error.instance, str) else ""
    return f"Expected one of {listed(options, len(options))}; got {given}.{near}"


def _const(error: Error, told: Mapping[str, Any], given: str, schema: Mapping[str, Any]) -> str:
    return f"Expected {shown(told['expected_value'])}; got {given}."


def _required(error: Error, told: Mapping[str, Any], given: str, schema: Mapping[str, Any]) -> str:
    name = str(told["property"])
    part = part_at(schema, [*error.schema_path[:-1], "properties", name])
    expected = expected_words(part)
    value: Any = error.instance
    near = did_you_mean(name, value)
    near = near.replace("Did you mean", "It may be what you sent as")
    return (
        f"The required member {shown(name)} is missing{f': expected {expected}' if expected else ''}.{near}"
    )


def expected_words(part: Mapping[str, Any]) -> str:
    """Return in a few words what a schema takes; empty where it does not say."""
    if isinstance(part.get("enum"), list):
        return f"one of {listed(part['enum'], len(part['enum']))}"
    if "const" in part:
        return shown(part["const"])
    kinds = part.get("type")
    types = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    text = types_words(types)
    form = part.get("format")
    return f"{text} ({_format_words(form)})" if text and isinstance(form, str) else text


def _format_words(name: str) -> str:
    example = FORMAT_EXAMPLES.get(name)
    return f"{name}, such as {shown(example)}" if example else name


def _format(error: Error, told: Mapping[str, Any], given: str, schema: Mapping[str, Any]) -> str:
    return f"Expected a string in the format {_format_words(told['format'])}; got {given}."


def _pattern(error: Error, told: Mapping[str, Any], given: str, schema: Mapping[str, Any]) -> str:
    return f"Expected a string that matches the pattern {str(told['pattern'])[:300]}; got {given}."


def _unique(error: Error, told: Mapping[str, Any], given: str, schema: Mapping[str, Any]) -> str:
    seen: dict[str, int] = {}
    items: Any = error.instance
    for index, item in enumerate(items):
        first = seen.setdefault(json.dumps(item, sort_keys=True), index)
        if first != index:
            return f"Expected items that differ; item {index} repeats item {first} ({shown(item)})."
    return "Expected items that differ; some are repeated."


def _branches(error: Error, told: Mapping[str, Any], given: str, schema: Mapping[str, Any]) -> str:
    """The types that the branches take, where that is all; else what each branch says."""
    branches = told["context"]
    if any(not branch for branch in branches):
        return f"Expected exactly one of the forms that the schema lists; {given} fits several."
    place = list(error.instance_path)
    here = [[each for each in branch if list(each.instance_path) == place] for branch in branches]
    types = [each.kind.as_dict()["types"] for branch in here for each in branch if each.kind.name == "type"]
    if types and all(any(each.kind.name == "type" for each in branch) for branch in here):
        each_once = list(dict.fromkeys(one for some in types for one in some))
        return f"Expected {types_words(each_once)}; got {given}."
    # The branch of the value's own type is the one that was meant.
    meant = [branch for branch in branches if branch and all(each.kind.name != "type" for each in branch)]
    told_of = [
        _branch(branch, len(place), schema) for branch in (meant or branches)[:BRANCHES_MOST] if branch
    ]
    if len(told_of) == 1:
        return told_of[0]
    return f"Expected one of {len(told_of)} forms; got {given}. " + " Or: ".join(told_of)


def _branch(branch: Sequence[Error], above: int, schema: Mapping[str, Any]) -> str:
    first = branch[0]
    place = "".join(f"/{part}" for part in list(first.instance_path)[above:])
    words = _words(first, schema)
    return f"{place}: {words}" if place else words


def _member_name(error: Error, told: Mapping[str, Any], given: str, schema: Mapping[str, Any]) -> str:
    return f"A member's name does not fit. {_words(told['error'], {})}"


def _contains(error: Error, told: Mapping[str, Any], given: str, schema: Mapping[str, Any]) -> str:
    expected = expected_words(part_at(schema, error.schema_path[:-1]).get("contains", {}))
    return f"Expected an array with an item that is {expected or 'of the kind in the schema'}; got {given}."


def _refused(error: Error, told: Mapping[str, Any], given: str, schema: Mapping[str, Any]) -> str:
    return f"The schema refuses this value: got {given}."


_KINDS: Mapping[str, Callable[[Error, Mapping[str, Any], str, Mapping[str, Any]], str]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "required": _required,
    "format": _format,
    "pattern": _pattern,
    "uniqueItems": _unique,
    "anyOf": _branches,
    "oneOf": _branches,
    "propertyNames": _member_name,
    "contains": _contains,
    "not": _refused,
    "falseSchema": _refused,
}
