"""What can be kept: a key and a value within limits."""

from typing import Any

from core.errors import InvalidRequest, ToolHubError
from core.json.canonical import CanonicalError, canonical
from execution.engine.changes import KEY_MAX
from execution.memory.models import Scope

# Below what an expression may see, with room for what it sees beside.
VALUE_BYTES_MAX = 61_440
DEPTH_MAX = 32


def scope_check(scope: str) -> None:
    """Raises InvalidRequest for a scope that is none."""
    if scope not in Scope.values:
        message = f"There is no scope {scope[:40]!r}; there are {', '.join(Scope.values)}."
        raise InvalidRequest(message, errors=[{"pointer": "/scope", "message": message}])


def key_check(key: str) -> None:
    """Raises InvalidRequest for a key that is empty, too long or holds control characters."""
    if not 1 <= len(key) <= KEY_MAX or not key.isprintable():
        message = f"A key has 1 to {KEY_MAX} characters, all of them printable."
        raise InvalidRequest(message, errors=[{"pointer": "/key", "message": message}])


def value_size(value: Any) -> int:
    """The size in bytes of the value's canonical form. Raises ToolHubError MEMORY_FULL, InvalidRequest."""
    try:
        size = len(canonical(value))
    except CanonicalError as error:
        raise InvalidRequest(f"The value is not exact JSON: {error}") from error
    if size > VALUE_BYTES_MAX:
        raise memory_full(f"The value has {size} bytes; {VALUE_BYTES_MAX} are allowed.")
    if _is_deep(value):
        raise memory_full(f"The value is nested deeper than {DEPTH_MAX}.")
    return size


def memory_full(message: str) -> ToolHubError:
    """What does not fit in memory."""
    return ToolHubError(message, code="MEMORY_FULL", errors=[{"pointer": "/value", "message": message}])


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEPTH_MAX):
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return bool(level)
