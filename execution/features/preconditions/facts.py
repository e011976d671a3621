"""What preconditions are judged by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from execution.engine.places import Place
from registry.models import ToolVersion
from security.principals import PersonaPrincipal


@dataclass(frozen=True)
class Facts:
    """A call as preconditions see it: the version, who calls, whose memory it has, and what it was given."""

    version: ToolVersion
    principal: PersonaPrincipal | None
    place: Place
    arguments: Mapping[str, Any]
    # As the caller gave it, and what expressions see of the call (registry/expressions.py).
    context: Mapping[str, Any]
    scope: Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """Whether a precondition holds; where not, `reason` says what is the matter and who can change it."""

    holds: bool
    reason: str = ""
    # Whether the check itself could not be carried out.
    is_error: bool = False


HOLDS = Verdict(True)
