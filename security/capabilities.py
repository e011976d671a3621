"""Capabilities: colon-separated or dotted rights with a hierarchy and one wildcard.

`a:b` is held by `a:b`, `a`, `a:*` and `*`; there are no other globs. A name with a colon is
split at colons only, so that `network:api.example` never holds `network:api.example.org`.
"""

import functools

from core.errors import InvalidRequest
from toolhub_sdk.capability import capability_check as _checked
from toolhub_sdk.capability import is_capability

__all__ = ["HUB", "capability_check", "covers", "holders", "is_capability", "of_hub"]

HUB = "toolhub"
"""Where the capabilities begin that manage the hub: `toolhub:personas`."""


def capability_check(text: object, pointer: str = "/capability") -> str:
    """Return the capability in its one spelling. Raise InvalidRequest at `pointer` for any other text."""
    try:
        return _checked(text)
    except ValueError as error:
        message = f"{pointer.lstrip('/')}: {error}."
        raise InvalidRequest(message, errors=[{"pointer": pointer, "message": message}]) from error


def of_hub(capability: str) -> bool:
    """Whether the capability manages the hub. A persona's own grant without conditions holds it."""
    return capability.partition(":")[0] == HUB


@functools.lru_cache(maxsize=8192)
def holders(capability: str) -> tuple[str, ...]:
    """Every grant that holds the capability, narrowest first: `a:b` → `a:b`, `a:*`, `a`, `*`.

    `*` is for what tools do: it holds no capability that manages the hub.
    """
    found = _above(capability)
    return found[:-1] if of_hub(capability) else found


@functools.lru_cache(maxsize=8192)
def _above(capability: str) -> tuple[str, ...]:
    separator = ":" if ":" in capability else "."
    parts = capability.split(separator)
    found = [capability]
    for size in range(len(parts) - 1, 0, -1):
        above = separator.join(parts[:size])
        found += [f"{above}{separator}*", above]
    return (*found, "*")


def covers(restricted: str, needed: str) -> bool:
    """Whether a restriction on one capability denies what needs another: the same, a part, or the whole.

    `file:*` and `file` deny `file:delete`; `file:delete` denies `file`, which would bring it.
    """
    return restricted in _above(needed) or needed in _above(restricted)
