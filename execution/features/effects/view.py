"""What effects see: arguments, result or error, and memory as it will be when their turn comes."""

import copy
from collections.abc import Mapping
from typing import Any

from core.cel import ConditionFailed, cel_holds, cel_names, cel_value
from execution.engine.changes import ABSENT, Change
from execution.engine.outcomes import Outcome
from execution.engine.places import place_of
from execution.features.effects.steps import Unworkable
from execution.memory.store import memory_read
from execution.models import Run, Status
from registry.expressions import call_scope

Key = tuple[str, str]


class View:
    """Reads memory as it is, and as the steps before have changed it."""

    def __init__(self, run: Run, outcome: Outcome) -> None:
        self.run = run
        self._place = place_of(run.persona_id, run.request)
        self.changed: dict[Key, Any] = {}
        # What was read, and so rested upon.
        self.seen: dict[Key, Any] = {}
        completed = outcome.status is Status.COMPLETED
        self._values: dict[str, Any] = {
            **call_scope(run.arguments, run.request),
            "result": outcome.data if completed else None,
            "error": dict(outcome.error) if outcome.error else None,
        }

    def current(self, scope: str, key: str) -> Any:
        """The value, or ABSENT."""
        if (scope, key) in self.changed:
            return self.changed[scope, key]
        if (scope, key) not in self.seen:
            self.seen[scope, key] = memory_read(self._place, scope, key)
        return self.seen[scope, key]

    def change(self, change: Change) -> None:
        """What later effects see from now on."""
        self.changed[change.scope, change.key] = change.value

    def afresh(self) -> "View":
        """The same memory as it was read, without what steps have changed."""
        other = copy.copy(self)
        other.changed = {}
        return other

    def value(self, expression: str, at: Key | None = None) -> Any:
        """What an expression gives; `at` names what it sees as `current`. Raises Unworkable."""
        try:
            return cel_value(expression, self._named(expression, at))
        except ConditionFailed as failure:
            raise Unworkable(f"The expression failed: {failure}.") from failure

    def holds(self, expression: str) -> bool:
        """Whether a condition is true. Raises Unworkable."""
        try:
            return cel_holds(expression, self._named(expression, None))
        except ConditionFailed as failure:
            raise Unworkable(f"The condition failed: {failure}.") from failure

    def mapped(self, arguments: Mapping[str, str], at: Key | None = None) -> dict[str, Any]:
        """Arguments, each by its expression. Raises Unworkable."""
        return {name: self.value(expression, at) for name, expression in arguments.items()}

    def _named(self, expression: str, at: Key | None) -> dict[str, Any]:
        """The values that an expression names: what it does not name counts towards no limit."""
        names = cel_names(expression)
        values = {name: value for name, value in self._values.items() if name in names}
        if "persona" in names:  # for few; it is read then
            values["persona"] = self.run.persona.name
        if "current" in names:
            found = self.current(*at) if at else ABSENT
            values["current"] = None if found is ABSENT else found
        return values
