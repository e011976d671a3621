"""Values that fit a JSON Schema: to show a caller who sent one that does not."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolhub_sdk.checks.engine import Refusal, compiled
from toolhub_sdk.checks.formats import FORMAT_EXAMPLES
from toolhub_sdk.checks.schema_parts import members_of, resolved

_DEEPEST = 8
# Strings that patterns often ask for.
_TEXTS = (
    "text", "a", "A", "abc", "ABC", "1", "0", "123", "1234", "12345", "1.0.0", "en", "en-US", "EUR", "USD",
    "a-b", "a_b", "a/b", "/a", "a.b", "2026-01-31", "09:30", "ada@example.com", "https://example.com/",
    "192.0.2.1", "#ffffff", "a" * 32, "0" * 40, "123e4567-e89b-42d3-a456-426614174000", "",
)  # fmt: skip


def sample_of(part: Any, root: Mapping[str, Any], depth: int = 0) -> Any:
    """Return a small value that is meant to fit a schema; the caller checks whether it does.

    Takes the schema's own default, examples, constants and choices first.
    """
    if not isinstance(part, Mapping):
        return "text"
    part = resolved(part, root)
    for own in _own(part):
        return own
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = [one for one in part.get(keyword, ()) if isinstance(one, Mapping)]
        if branches and "type" not in part and depth < _DEEPEST:
            rest = {name: value for name, value in part.items() if name != keyword}
            return sample_of({**rest, **resolved(branches[0], root)}, root, depth + 1)
    kinds = part.get("type", "object" if "properties" in part else "string")
    kind = kinds[0] if isinstance(kinds, list) and kinds else kinds
    return _of_kind(str(kind), part, root, depth)


def _own(part: Mapping[str, Any]) -> Iterator[Any]:
    for keyword in ("const", "default"):
        if part.get(keyword) is not None:
            yield part[keyword]
    for keyword in ("examples", "enum"):
        values = part.get(keyword)
        if isinstance(values, list) and values:
            yield values[0]


def _of_kind(kind: str, part: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    match kind:
        case "boolean":
            return True
        case "null":
            return None
        case "integer" | "number":
            return _number(part, kind)
        case "array":
            least = part.get("minItems", 1 if depth == 0 else 0)
            return [sample_of(part.get("items", {}), root, depth + 1) for _ in range(min(least, 5))]
        case "object":
            members = members_of(part, root)
            names = [name for name in part.get("required", ()) if depth < _DEEPEST]
            return {name: sample_of(members.get(name, {}), root, depth + 1) for name in names}
    return _text(part)


def _number(part: Mapping[str, Any], kind: str) -> Any:
    step = part.get("multipleOf", 1)
    low = part.get("minimum", part.get("exclusiveMinimum"))
    high = part.get("maximum", part.get("exclusiveMaximum"))
    if low is None:
        low = 1 if high is None or high > 1 else high - ("exclusiveMaximum" in part)
    elif "exclusiveMinimum" in part:
        both = high is not None and high - low <= step
        low = (low + high) / 2 if both and kind == "number" else low + step
    number = -(-low // step) * step if "multipleOf" in part else low
    return int(number) if float(number).is_integer() else number


def _text(part: Mapping[str, Any]) -> str:
    example = FORMAT_EXAMPLES.get(str(part.get("format", "")))
    if example is not None:
        return example
    least, most = part.get("minLength", 0), part.get("maxLength", 1_000)
    fits = _pattern_of(part)
    padded = [text.ljust(min(least, 200), "a")[:most] for text in _TEXTS]
    return next((text for text in padded if fits(text)), "text")


def _pattern_of(part: Mapping[str, Any]) -> Callable[[Any], bool]:
    """Return whether a text matches the schema's pattern, in linear time."""
    pattern = part.get("pattern")
    try:
        return compiled({"pattern": pattern} if isinstance(pattern, str) else {}, 1).is_valid
    except Refusal:
        return bool
