"""What happens to a run, in which order: the features that take part in its life.

A *call* is what somebody asks for; a *run* is a call that was accepted; an *attempt* is one try at carrying a
run out. The steps of a run:

1. The engine checks the call: the tool exists, the caller may call it, the arguments fit. `before_accept`
   lets features refuse it, too.
2. `at_accept`: the run is written. A limit counts the call in the same transaction; a call that needs a
   person's approval waits for it, and is not counted again later.
3. A worker begins the run (the web process does so for quick calls) and asks once more whether the caller may
   call the tool; `before_start` lets features prepare the call or end the run. The tool's runtime carries the
   call out. A retry comes back to this step: it needs no new approval and counts against no limit again.
4. `after_attempt`: an attempt that failed is repeated later, handed to another tool or a person, or is the
   last. The first feature that lets the run wait decides. Nothing of the effects is written for a failed
   attempt that is repeated.
5. `at_outcome`: the run ends. Its outcome, the effects of its contract, its files and the message that is
   owed to its caller are written in one transaction, or none of them. Messages are sent after it. Effects
   say themselves whether they follow a success, a failure or both.

A step asks, in the order below, only the features that apply to the call: for most calls, none do. What a
feature may do at each step: execution/engine/features.py. The states between the steps: docs/run-states.md.
"""

from execution.engine.features import LIFE, Feature
from execution.engine.runtimes import RUNTIMES
from execution.features.approvals.feature import ApprovalsFeature
from execution.features.artefacts.feature import ArtefactsFeature
from execution.features.callbacks.feature import CallbacksFeature
from execution.features.effects.feature import EffectsFeature
from execution.features.limits.feature import LimitsFeature
from execution.features.preconditions.feature import PreconditionsFeature
from execution.features.recovery.feature import RecoveryFeature
from execution.features.retry.feature import RetryFeature
from execution.memory.feature import MemoryFeature
from execution.runners.perform import call_run
from execution.runners.registry import runtimes_find

LIFECYCLE: tuple[Feature, ...] = (
    # at_accept: counts the call; later, when an attempt ends, books the time and bytes that it took.
    LimitsFeature(),
    # at_accept: lets the run wait until a person approves or denies the call.
    ApprovalsFeature(),
    # before_start: checks what has to hold, before the first attempt only; where it does not, the run ends.
    PreconditionsFeature(),
    # before_start: gives the tool what it may read of memory.
    MemoryFeature(),
    # after_attempt: lets the run wait for its next attempt, while its policy has one left.
    RetryFeature(),
    # after_attempt: when no attempt is left, calls another tool or asks a person.
    RecoveryFeature(),
    # at_outcome: writes what the tool changed in memory, and the effects of its contract. A failing effect
    # makes the outcome EFFECT_FAILED and takes back the effects before it.
    EffectsFeature(),
    # at_outcome: keeps the files that the tool left.
    ArtefactsFeature(),
    # before_accept: checks the address; at_outcome: owes it the outcome.
    CallbacksFeature(),
)


def lifecycle_install() -> None:
    """Hand features and runtimes to the engine; once, when the app is ready."""
    LIFE.install(LIFECYCLE, call_run)
    RUNTIMES.install(runtimes_find)
