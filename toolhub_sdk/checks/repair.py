"""A value that fits a JSON Schema, made from one that does not: the next call, in full.

Only ever shown, never carried out: what a caller meant is the caller's to say.
"""

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from toolhub_sdk.canonical import SAFE_INTEGER, canonical_text
from toolhub_sdk.checks.engine import Error, Validator
from toolhub_sdk.checks.near import near_names, plain_name
from toolhub_sdk.checks.sample import sample_of
from toolhub_sdk.checks.schema_parts import members_of, part_at

BYTES_MOST = 2_000
_ROUNDS = 6
_EFFORT = 2_000
_CLASSES: Mapping[str, type] = {"string": str, "array": list, "object": dict, "null": type(None)}
_GONE: Final = object()


def repaired(
    validator: Validator,
    value: Any,
    examples: Iterable[Mapping[str, Any]] = (),
    fits: Callable[[Any], bool] | None = None,
) -> Any | None:
    """Return a value near to the given one that the schema takes and that `fits`, an example or a sample.

    None where none of them fits, or all have more than 2,000 bytes as JSON. `examples` are values that the
    schema's author gives; members that are missing are taken from them first.
    """
    known = list(examples)[:5]
    for found in _candidates(validator, value, known):
        if (
            found is not None
            and validator.is_valid(found)
            and (fits is None or fits(found))
            and _can_be_sent(found)
        ):
            return found
    return None


def _candidates(validator: Validator, value: Any, examples: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    yield _mended(validator, value, examples)
    yield from examples
    yield sample_of(validator.schema, validator.schema)


def _can_be_sent(value: Any) -> bool:
    """Whether a value is exact JSON, and small enough to be shown."""
    try:
        return len(canonical_text(value).encode()) <= BYTES_MOST
    except ValueError:
        return False


def _mended(validator: Validator, value: Any, examples: Sequence[Mapping[str, Any]]) -> Any | None:
    if validator.errors(value, _EFFORT) is None:
        return None
    holder = {"": copy.deepcopy(value)}
    for _ in range(_ROUNDS):
        errors = validator.errors(holder[""], _EFFORT)
        if not errors:
            break
        # From the end, so that places in arrays stay where they are.
        for error in sorted(errors, key=lambda one: [str(part) for part in one.instance_path], reverse=True):
            _mend(holder, error, validator.schema, examples)
    return holder[""]


def _mend(holder: dict[str, Any], error: Error, schema: Mapping[str, Any], examples: Sequence[Any]) -> None:
    path: list[Any] = ["", *error.instance_path]
    try:
        parent: Any = holder
        for step in path[:-1]:
            parent = parent[step]
        given = parent[path[-1]]
    except (LookupError, TypeError):  # an earlier mend took it away
        return
    part = part_at(schema, error.schema_path[:-1])
    if given is None and len(path) > 1 and isinstance(parent, dict):
        del parent[path[-1]]  # null is how models write that a member is left out
        return
    name, told = error.kind.name, error.kind.as_dict()
    if name == "required" and isinstance(given, dict):
        _add(given, str(told["property"]), part, schema, _of_examples(examples, path[1:]))
    elif name in ("additionalProperties", "unevaluatedProperties") and isinstance(given, dict):
        for extra in told["unexpected"]:
            _rename(given, extra, members_of(part, schema))
    else:
        mend = _MENDS.get(name)
        made = mend(given, told, part) if mend else _GONE
        if made is _GONE or made == given:
            made = _instead(_of_examples(examples, path[1:]), given, part, schema)
        parent[path[-1]] = made


def _instead(example: Any, given: Any, part: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    return copy.deepcopy(example) if example not in (_GONE, given) else sample_of(part, schema)


def _of_examples(examples: Sequence[Any], path: Sequence[Any]) -> Any:
    for found in examples:
        try:
            for step in path:
                found = found[step]
        except (LookupError, TypeError):
            continue
        return found
    return _GONE


def _add(
    given: dict[str, Any], name: str, part: Mapping[str, Any], schema: Mapping[str, Any], example: Any
) -> None:
    """The missing member: what came under a name that is like it, an example's value, or a sample."""
    members = members_of(part, schema)
    strangers = [one for one in given if one not in members]
    near = near_names(name, strangers, 1)
    if near:
        given[name] = given.pop(near[0])
    elif isinstance(example, Mapping) and name in example:
        given[name] = copy.deepcopy(example[name])
    else:
        given[name] = sample_of(members.get(name, {}), schema)


def _rename(given: dict[str, Any], name: str, members: Mapping[str, Any]) -> None:
    value = given.pop(name, None)
    near = [one for one in near_names(name, members) if one not in given]
    if near:
        given[near[0]] = value


def _type(given: Any, told: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
    return coerced(given, told["types"])


def coerced(given: Any, types: Sequence[str]) -> Any:
    """Return the value as one of these types, where it plainly means one; else a mark that nothing equals."""
    text = given.strip() if isinstance(given, str) else ""
    if text and set(types) - {"string"}:
        try:
            read = json.loads(text.lower() if text.lower() in ("true", "false", "null") else text)
        except (ValueError, RecursionError):
            read = _GONE
        if any(_is_type(read, one) for one in types):
            whole = "integer" in types and isinstance(read, (int, float)) and not isinstance(read, bool)
            return max(-SAFE_INTEGER, min(SAFE_INTEGER, int(read))) if whole else read
    if "integer" in types and isinstance(given, float) and not isinstance(given, bool):
        return round(given)
    if "string" in types and isinstance(given, (int, float, bool)):
        return json.dumps(given)
    if isinstance(given, list) and len(given) == 1 and any(_is_type(given[0], one) for one in types):
        return given[0]
    if "array" in types and given is not None:
        return [one.strip() for one in text.split(",")] if "," in text else [given]
    return _GONE


def _is_type(value: Any, kind: str) -> bool:
    match kind:
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, (int, float)) and not isinstance(value, bool) and value % 1 == 0
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, _CLASSES[kind])


def _enum(given: Any, told: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
    options = told["options"]
    if isinstance(given, str):
        texts = [one for one in options if isinstance(one, str)]
        if near := near_names(given, texts, 1):
            return near[0]
    same = [one for one in options if plain_name(json.dumps(one)) == plain_name(json.dumps(given))]
    return same[0] if same else _GONE


def _const(given: Any, told: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
    return told["expected_value"]


def _limit(given: Any, told: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
    return told["limit"]


def _beyond(step: int) -> Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]:
    def mend(given: Any, told: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
        return told["limit"] + step

    return mend


def _multiple(given: Any, told: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
    return round(given / told["multiple_of"]) * told["multiple_of"]


def _cut(given: Any, told: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
    return given[: told["limit"]]


def _distinct(given: Any, told: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
    return list({json.dumps(one, sort_keys=True): one for one in given}.values())


def _branches(given: Any, told: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
    errors = [each for branch in told["context"] for each in branch if each.instance == given]
    types = [one for each in errors if each.kind.name == "type" for one in each.kind.as_dict()["types"]]
    return coerced(given, types) if types else _GONE


_MENDS: Mapping[str, Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": _limit,
    "maximum": _limit,
    "exclusiveMinimum": _beyond(1),
    "exclusiveMaximum": _beyond(-1),
    "multipleOf": _multiple,
    "maxLength": _cut,
    "maxItems": _cut,
    "uniqueItems": _distinct,
    "anyOf": _branches,
    "oneOf": _branches,
}
