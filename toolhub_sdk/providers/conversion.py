"""A tool in the form of a model provider, and what became different on the way.

A converter only loosens a schema: what it drops, the hub still checks when the tool is called.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from toolhub_sdk.problem import pointer

Schema: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class Change:
    """What a converter changed, at a JSON Pointer (RFC 6901) into the tool's definition."""

    pointer: str
    message: str


@dataclass
class Changes:
    """Collects the changes, each once."""

    found: dict[Change, None] = field(default_factory=dict)

    def add(self, path: Sequence[str | int], message: str) -> None:
        """Notes a change at a path of the inputSchema."""
        self.found[Change(pointer(["inputSchema", *path]), message)] = None


@dataclass(frozen=True)
class Converted:
    """The provider's form of a tool, as JSON, with the changes."""

    tool: dict[str, Any]
    changes: tuple[Change, ...]


class UnfitError(ValueError):
    """The provider cannot take the tool at all; the message says why."""
