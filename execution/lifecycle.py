"""What happens to a run, in which order: the features that take part in its life.

A call is checked (found, allowed, its arguments fit: `before_accept`) and accepted (`at_accept`). A worker,
or the web process, begins the run, prepares the call (`before_start`) and has its runtime carry it out. Then
it asks what becomes of the attempt (`after_attempt`): the run waits for another one, or for somebody, or it
ends. What follows from the outcome (`at_outcome`) is written with it, in one transaction.

Each step asks the features below, in this order, and of them only those that are about the call: for most
calls none. execution/engine/features.py describes the steps, docs/run-states.md the states between them.
"""

from execution.engine.features import LIFE, Feature
from execution.engine.runtimes import RUNTIMES
from execution.features.approvals.feature import Approvals
from execution.features.artefacts.feature import Artefacts
from execution.features.callbacks.feature import Callbacks
from execution.features.effects.feature import EffectsFeature
from execution.features.limits.feature import Limits
from execution.features.preconditions.feature import Preconditions
from execution.features.recovery.feature import RecoveryFeature
from execution.features.retry.feature import Retry
from execution.memory.feature import Memory
from execution.runners.perform import call_run
from execution.runners.registry import runtimes_find

LIFECYCLE: tuple[Feature, ...] = (
    # Accepting: the call is counted, then perhaps a person is asked, and the run waits for them.
    Limits(),
    Approvals(),
    # Beginning: what has to hold is checked, then the tool is given what it may remember.
    Preconditions(),
    Memory(),
    # After a failed attempt: it is repeated; when no attempt is left, another tool or a person is called.
    Retry(),
    RecoveryFeature(),
    # With the outcome: what the tool changed and its contract has follow, files, the message to its caller.
    EffectsFeature(),
    Artefacts(),
    Callbacks(),
)


def lifecycle_install() -> None:
    """Hand features and runtimes to the engine; once, when the app is ready."""
    LIFE.install(LIFECYCLE, call_run)
    RUNTIMES.install(runtimes_find)
