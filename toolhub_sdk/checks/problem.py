"""What is wrong with a manifest, where, and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """`pointer` is a JSON Pointer (RFC 6901) into the manifest; `message` says what is wrong there,
    `remedy` what to write instead.
    """

    pointer: str
    message: str
    remedy: str


def pointer(path: Sequence[str | int]) -> str:
    """A JSON Pointer (RFC 6901) for a path of keys and indexes."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
