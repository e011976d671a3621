"""How the self-test calls a tool that is not published yet: what carries tools out registers it here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, Literal

from registry.models import ToolVersion
from registry.runtimes import runtime_unknown

# The machine's part in a failure: none, perhaps too little time, no start, an end from outside.
Fault = Literal["", "time", "start", "killed"]


@dataclass(frozen=True)
class Ask:
    """What is wanted of one try. Without `arguments` the tool is only looked for, and not called.

    `look` has it looked for before the call; `seed` is that of the hash order; `least_ms` is the least time
    that it gets, where its own bound is shorter. With `seeds` it is carried out once for each, in fresh
    processes of one sandbox, and `data` is a report: `first` is the first result, `seed` the first whose
    result differs or is missing.
    """

    arguments: Mapping[str, Any] | None
    cancelled: Event
    look: bool = False
    seed: int = 0
    seeds: Sequence[int] = ()
    least_ms: int = 0


@dataclass(frozen=True)
class Tried:
    """What came of one call: `data` when `error` is None; `wrote` bytes are left in its work folder."""

    data: Any
    error: Mapping[str, Any] | None
    duration_ms: float
    wrote: int = 0
    cpu_ms: float = 0.0
    # Whether it wants memory changed.
    remembered: bool = False
    fault: Fault = ""


Trial = Callable[[ToolVersion, Ask], Tried]
_TRIALS: dict[str, Trial] = {}


def trial_register(runner: str, trial: Trial) -> None:
    """Makes known how tools of a runtime are tried; called when Django starts."""
    _TRIALS[runner] = trial


def trial_of(runner: str) -> Trial:
    """How tools of a runtime are tried. Raises ToolHubError RUNTIME_UNKNOWN."""
    if runner not in _TRIALS:
        raise runtime_unknown(runner)
    return _TRIALS[runner]
