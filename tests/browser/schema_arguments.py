"""Arguments that fit a schema, made from it without any code of the form."""

import functools
import itertools
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st

DEEPEST = 5
TEXTS = {
    "date-time": "2030-01-31T09:00:00Z",
    "date": "2030-01-31",
    "email": "a@example.org",
    "uri": "https://example.org/a?b=c",
    "uuid": "0f8fad5b-d9cb-469f-a165-70867728950e",
}
QUICK = settings(
    database=None, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)


def arguments(schema: dict[str, Any], count: int = 6) -> list[Any]:
    """Some values: of each the next way through `anyOf` and `oneOf`, with and without what is optional."""
    return [
        Maker(schema, turn, whole).value(schema, 0) for turn in range(count // 2) for whole in (False, True)
    ]


class Maker:
    """One walk through a schema; `turn` picks the variant, `whole` gives also what is optional."""

    def __init__(self, root: dict[str, Any], turn: int, whole: bool) -> None:
        self.root, self.turn, self.whole = root, turn, whole
        self.number = itertools.count(turn)

    def value(self, schema: Any, depth: int) -> Any:
        if "$ref" in schema:
            target = functools.reduce(lambda at, step: at[step], schema["$ref"].split("/")[1:], self.root)
            schema = {**target, **{name: one for name, one in schema.items() if name != "$ref"}}
        ways = schema.get("anyOf") or schema.get("oneOf")
        if ways and "properties" not in schema:
            return self.value(ways[self.turn % len(ways)], depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][self.turn % len(schema["enum"])]
        types = schema.get("type", "object" if "properties" in schema else "any")
        kind = types if isinstance(types, str) else types[self.turn % len(types)]
        return getattr(self, f"of_{kind}")(schema, depth)

    def of_object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        given = {
            name: self.value(schema["properties"][name], depth + 1) for name in self._names(schema, depth)
        }
        further = schema.get("additionalProperties")
        if self.whole and isinstance(further, dict) and depth < DEEPEST:
            given |= {f"further-{at}": self.value(further, depth + 1) for at in range(2)}
        return given

    def _names(self, schema: dict[str, Any], depth: int) -> Iterator[str]:
        required = schema.get("required", [])
        for name in schema.get("properties", {}):
            if name in required or (self.whole and depth < DEEPEST):
                yield name

    def of_array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        least = schema.get("minItems", 0)
        count = least if depth >= DEEPEST else max(least, self.turn % 3)
        return [self.value(schema.get("items", {}), depth + 1) for _ in range(count)]

    def of_string(self, schema: dict[str, Any], depth: int) -> str:
        if "pattern" in schema:
            return find(st.from_regex(schema["pattern"]), lambda text: True, settings=QUICK)
        text = TEXTS.get(schema.get("format", ""), f"word\n{next(self.number)}: “é” \t<b>")
        return text[: schema.get("maxLength", 1000)].ljust(schema.get("minLength", 0), "x")

    def of_integer(self, schema: dict[str, Any], depth: int) -> int:
        return min(schema.get("minimum", -3) + next(self.number), schema.get("maximum", 2**53 - 1))

    def of_number(self, schema: dict[str, Any], depth: int) -> float:
        return min(schema.get("minimum", 0) + 0.25, schema.get("maximum", 1e300))

    def of_boolean(self, schema: dict[str, Any], depth: int) -> bool:
        return bool(self.turn % 2)

    def of_null(self, schema: dict[str, Any], depth: int) -> None:
        return None

    def of_any(self, schema: dict[str, Any], depth: int) -> Any:
        return [{"a": [1, None, "é"]}, "text", 5, False][self.turn % 4]
