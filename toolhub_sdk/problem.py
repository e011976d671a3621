"""What is wrong with a manifest, where, and what to do."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """`pointer` is a JSON Pointer (RFC 6901) into the manifest; `message` says what is wrong there,
    `remedy` what to write instead.
    """

    pointer: str
    message: str
    remedy: str


@dataclass(frozen=True)
class Contradiction:
    """Two members of one contract that cannot both be true.

    `said` is the promise, `place` the member of the contract that breaks it, `why` says how.
    """

    said: Callable[[Mapping[str, Any]], bool]
    place: str
    breaks: Callable[[Any], bool]
    why: str
    remedy: str


def pointer(path: Sequence[str | int]) -> str:
    """A JSON Pointer (RFC 6901) for a path of keys and indexes."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
