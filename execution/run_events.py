"""The kinds of events of a run's own timeline, each with its name, its sentence and its number for readers.

The rows hold the names. Payloads are never stored with an event: readers get those of the run's row.
"""

from dataclasses import dataclass

from core.sentences import Sentence


@dataclass(frozen=True, slots=True)
class RunEventKind:
    """A kind as declared. `number` is S3's, None for events of the hub's own."""

    name: str
    sentence: Sentence
    number: int | None = None


RUN_EVENTS: dict[str, RunEventKind] = {}


def _declare(name: str, sentence: str, number: int | None = None) -> str:
    """Declare a kind and return its name, as rows and their writers have it. Raises ValueError if taken."""
    if name in RUN_EVENTS:
        raise ValueError(f"The run event {name} is declared twice.")
    RUN_EVENTS[name] = RunEventKind(name, Sentence(sentence), number)
    return name


CALL_REQUESTED = _declare("TOOL_CALL_REQUESTED", "Call accepted", 400)
CALL_COMPLETED = _declare("TOOL_CALL_COMPLETED", "Completed[ after {durationMs:ms} of work]", 410)
CALL_FAILED = _declare("TOOL_CALL_FAILED", "Ended without a result", 420)

CLAIMED = _declare("RUN_CLAIMED", "Claimed by the worker {worker} for attempt {attempt}")
STARTED = _declare("RUN_STARTED", "Attempt {attempt} started")
PROGRESS = _declare("TOOL_CALL_PROGRESS", "The tool sent a partial result")
PRINTED = _declare("TOOL_CALL_PRINTED", "The tool printed to {stream}")
LOGGED = _declare("TOOL_CALL_LOGGED", "The tool wrote log entries")
NETWORK_REACHED = _declare("NETWORK_REACHED", "The tool asked for hosts on the network")
ARTEFACTS_KEPT = _declare("ARTEFACTS_KEPT", "Stored the files that the tool left")
PRECONDITIONS_CHECKED = _declare("PRECONDITIONS_CHECKED", "Checked the preconditions[; failed: {failed}]")

LEASE_LOST = _declare("LEASE_LOST", "The worker {worker} stopped answering during attempt {attempt}")
LATE_RESULT = _declare(
    "LATE_RESULT", "Attempt {attempt} ended too late, with status {status}; its result was dropped"
)
RETRY = _declare("RUN_RETRIED", "Queued again as attempt {attempt}")
RETRY_WAITS = _declare(
    "RETRY_WAITS",
    "Attempt {attempt} failed with {code}; the next one follows in {delay_ms:ms}"
    "[; the server asked for a pause of {retry_after_ms:ms}]",
)
FALLBACK_CALLED = _declare(
    "FALLBACK_CALLED", "Attempt {attempt} failed with {code}; called the fallback {tool}"
)
PERSON_ASKED = _declare(
    "PERSON_ASKED", "Attempt {attempt} failed with {code}; a person has to resolve the run"
)
ESCALATED = _declare("RUN_ESCALATED", "Escalated to {to}")
CANCEL_ASKED = _declare("CANCEL_ASKED", "{by} asked to cancel the run")
RESOLVED = _declare("RUN_RESOLVED", "{by} resolved the run as {as}: {reason}")

EFFECT_APPLIED = _declare("EFFECT_APPLIED", "Applied the {type} effect[: {description}]")
EFFECT_FAILED = _declare("EFFECT_FAILED", "The {type} effect failed: {reason}")
EFFECT_TAKEN_BACK = _declare("EFFECT_TAKEN_BACK", "Rolled back the {type} effect[: {description}]")
EFFECT_COMPENSATED = _declare(
    "EFFECT_COMPENSATED", "Compensation of the {type} effect[: called {tool}][: failed, {failed}]"
)

APPROVAL_ASKED = _declare("APPROVAL_ASKED", "Waits for approval until {expires_at:time}: {why}")
APPROVED = _declare("APPROVED", "{by} approved the call[: {reason}]")
APPROVAL_DELEGATED = _declare("APPROVAL_DELEGATED", "{by} delegated the decision to {to}")

CALLBACK_QUEUED = _declare("CALLBACK_QUEUED", "Queued the callback[ again for {by}]")
CALLBACK_TRIED = _declare(
    "CALLBACK_TRIED", "Callback attempt {attempt} failed[: {error}]; the next one follows at {next_at:time}"
)
CALLBACK_DELIVERED = _declare("CALLBACK_DELIVERED", "Delivered the callback on attempt {attempt}")
CALLBACK_FAILED = _declare("CALLBACK_FAILED", "Gave up on the callback after attempt {attempt}[: {error}]")
