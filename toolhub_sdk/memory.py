"""What a tool remembers: as the hub gave it with the call, changed when the tool returns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from toolhub_sdk.normalise import normalise
from toolhub_sdk.strict_json import JSON

Scope: TypeAlias = Literal["working", "short-term", "long-term"]
"""Lasts a loop, a session, or with the persona."""

_GONE = object()


def is_named(key: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns names the key: the key itself, or its beginning and `*`."""
    return any(key == one or (one.endswith("*") and key.startswith(one[:-1])) for one in patterns)


class Memory:
    """A tool's memory in one call: `found` is by scope and key, `named` the keys that its contract names.

    Changes reach the hub when the tool returns, all or none; a tool that fails changes nothing. Without
    `named` any key may be used, so that a test can make one.
    """

    def __init__(
        self,
        found: Mapping[str, Mapping[str, JSON]] | None = None,
        named: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._found = {scope: dict(values) for scope, values in (found or {}).items()}
        self._named = named
        self._changed: dict[tuple[str, str], Any] = {}

    def read(self, key: str, scope: Scope = "working", default: JSON = None) -> JSON:
        """The value, with this call's own changes; `default` where there is none."""
        self._check(scope, key)
        changed = self._changed.get((scope, key), self._found.get(scope, {}).get(key, _GONE))
        value: JSON = default if changed is _GONE else changed
        return value

    def write(self, key: str, value: object, scope: Scope = "working") -> None:
        """Writes a value of plain JSON. Raises ToolError INVALID_OUTPUT for any other."""
        self._check(scope, key)
        self._changed[scope, key] = normalise(value)

    def delete(self, key: str, scope: Scope = "working") -> None:
        """Deletes a value; the same where there is none."""
        self._check(scope, key)
        self._changed[scope, key] = _GONE

    @property
    def changes(self) -> list[dict[str, Any]]:
        """What this call changed: `{scope, key, value}`, without `value` where it was deleted."""
        return [
            {"scope": scope, "key": key} | ({} if value is _GONE else {"value": value})
            for (scope, key), value in self._changed.items()
        ]

    def _check(self, scope: str, key: str) -> None:
        if self._named is not None and not is_named(key, self._named.get(scope, ())):
            raise ValueError(f"The tool's contract does not name {key!r} in {scope} memory.")
