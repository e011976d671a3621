"""How the self-test calls a tool that is not published yet: what carries tools out registers it here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any

from core.errors import ToolHubError
from registry.models import ToolVersion


@dataclass(frozen=True)
class Tried:
    """What came of one call: `data` when `error` is None; `wrote` bytes are left in its work folder."""

    data: Any
    error: Mapping[str, Any] | None
    duration_ms: float
    wrote: int = 0


Trial = Callable[[ToolVersion, Mapping[str, Any], Event], Tried]
_TRIALS: dict[str, Trial] = {}


def trial_register(runner: str, trial: Trial) -> None:
    """Makes known how tools of a runner are tried; called when Django starts."""
    _TRIALS[runner] = trial


def trial_of(runner: str) -> Trial:
    """Raises ToolHubError NOT_AVAILABLE for a runner that this hub does not have."""
    if runner not in _TRIALS:
        raise ToolHubError(f"This hub has no runner of the kind {runner[:16]!r}.", code="NOT_AVAILABLE")
    return _TRIALS[runner]
