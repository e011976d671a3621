"""Callers that this process knows, and what their calls were decided on."""

import functools
from dataclasses import dataclass
from typing import Any

from execution.engine.store.rights import Who
from registry.models import ToolVersion
from security.tokens import USED_EVERY


@dataclass(frozen=True)
class Proof:
    """What a call was decided on: the token's digest, who it was, and the epoch of its rights.

    `in_line` tells whether the token was made with another, so that what that one may holds as well.
    """

    digest: bytes
    who: Who
    epoch: int
    in_line: bool

    def values(self) -> tuple[Any, ...]:
        """As the statement that writes compares them."""
        return self.digest, USED_EVERY, *self.who, self.epoch


@functools.lru_cache(maxsize=4096)
def version_kept(version_id: int, digest: str, state: str, reason: str) -> ToolVersion:
    """A tool version with tool and package. Immutable but for its state, which is part of the key.

    So is its digest: after a restore of the database another version may get the same id.
    """
    row = ToolVersion.objects.select_related("tool__package").get(pk=version_id)
    row.state, row.state_reason = state, reason
    return row
