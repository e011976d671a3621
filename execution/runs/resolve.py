"""Resolving a run that waits for a person, who looked and says what became of it.

Nobody knows its outcome, or it failed and its contract leaves it to a person.

Done, not done, run anew, or compensate: the tools are called that the contract names for undoing its effects.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import InvalidRequest, ToolHubError
from execution.engine.events import event_add
from execution.engine.features import CALLBACK, FILES, LIMITS, Conflict, traits_of
from execution.engine.outcomes import Outcome
from execution.engine.plans import planned
from execution.engine.selectors import payload_require
from execution.engine.settle import run_settle
from execution.engine.states import FINAL, UNRESOLVED
from execution.event_kinds import RUN_RESOLVED
from execution.features.effects.undo import Undo, UndoRefused, undo_plan, undo_submit
from execution.models import Run, Status
from execution.run_events import RESOLVED
from execution.runs.again import request_again, submit_for
from execution.runs.verdicts import REASON_MAX, WITH_RESULT, Verdict, outcome_by, undone
from security.models import User
from security.permissions import actor_of, require
from security.tokens import principal_of_persona

RESOLVE = "execution.resolve_run"


@dataclass(frozen=True)
class Word:
    """A person's word on a run; `actor` as the record names who gave it."""

    by: User
    actor: Actor
    verdict: Verdict
    reason: str


def run_resolve(
    *, by: User, run: Run, verdict: Verdict, reason: str, result: Any = None, actor: Actor | None = None
) -> Run | None:
    """Gives a run its outcome on a person's word; returns the new run where it is run anew.

    DONE completes it, with `result` where one is given, which has to fit the tool's schema. NOT_DONE fails
    it with NOT_DONE, or the error that it had. COMPENSATE fails it with COMPENSATED and calls, as child
    runs, the tools that its effects name for their rollback; they see `result`. ANEW fails it with
    OUTCOME_UNKNOWN, or its error, and submits the same request again. Both are under the run's persona and
    on the person's responsibility, through every check. `actor` is the agent through which the person
    decides.

    Raises Denied, InvalidRequest for what is wrong with reason or result, ToolHubError (409) when somebody
    or a late result was first or nothing can be compensated, and what a refused call raises.
    """
    require(by, RESOLVE, run.persona, run.tool_version.tool)
    reason = _reason_read(reason)
    if result is not None and verdict not in WITH_RESULT:
        raise _wrong("/result", "A result goes with done and compensate only.")
    outcome = outcome_by(run, verdict, by.get_username(), result)
    word = Word(by, actor or actor_of(by), verdict, reason)
    match verdict:
        case Verdict.ANEW:
            return _anew(word, run, outcome)
        case Verdict.COMPENSATE:
            _compensate(word, run, outcome, result)
        case _:
            with transaction.atomic():
                _write(word, _unresolved(run), outcome)
    return None


def _anew(word: Word, run: Run, outcome: Outcome) -> Run:
    refused: ToolHubError | None = None
    with transaction.atomic():
        current = _unresolved(run)
        try:
            new = submit_for(word.by, run.persona, run.tool, request_again(run))
        except ToolHubError as error:
            # Raised after the commit, so that the refusal stays on record.
            refused = error
        else:
            _write(word, current, outcome, {"new_run": str(new.pk)})
    if refused:
        raise refused
    return new


def _compensate(word: Word, run: Run, outcome: Outcome, result: Any) -> None:
    _unresolved_check(run)
    payload_require(run)
    responsible = principal_of_persona(run.persona, word.by)
    undo = planned(lambda _: _undo(word, run, outcome, undo_plan(run, result, responsible)))
    if isinstance(undo, UndoRefused):
        raise undo.recorded()
    if isinstance(undo, Conflict):
        raise ToolHubError("What the calls are decided on changes again and again.", code="CONFLICT")


def _undo(word: Word, run: Run, outcome: Outcome, plan: Sequence[Undo]) -> UndoRefused | Conflict | None:
    with transaction.atomic():
        current = _unresolved(run)
        calls = undo_submit(current, plan)
        if isinstance(calls, UndoRefused | Conflict):
            transaction.set_rollback(True)
            # What was taken away since it was read is read anew.
            return Conflict() if isinstance(calls, Conflict) else calls
        _write(word, current, undone(outcome, calls), {"compensations": calls})
    return None


def _reason_read(text: str) -> str:
    text = text.strip()
    if not 1 <= len(text) <= REASON_MAX:
        raise _wrong("/reason", f"Say what you found, in at most {REASON_MAX} characters.")
    return text


def _wrong(pointer: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": pointer, "message": message}])


def _unresolved(run: Run) -> Run:
    """The run, locked. Raises ToolHubError (409) when it is not to be resolved, or no longer."""
    current = Run.objects.select_for_update().get(pk=run.pk)
    _unresolved_check(current)
    return current


def _unresolved_check(run: Run) -> None:
    if run.status not in UNRESOLVED:
        code = "ALREADY_FINISHED" if run.status in FINAL else "CONFLICT"
        raise ToolHubError(f"The run is {run.status.replace('_', ' ')}: nothing to resolve.", code=code)


def _write(word: Word, run: Run, outcome: Outcome, more: Mapping[str, Any] | None = None) -> None:
    """The event, the outcome and the ledger's entries, in the caller's transaction."""
    said = {"as": word.verdict.value, "reason": word.reason, **(more or {})}
    event_add(run.pk, RESOLVED, {"by": word.by.get_username(), **said})
    record(Entry(RUN_RESOLVED, word.actor, "tool", run.tool, said, run.pk))
    # A person's word is no call of the tool: its contract has nothing follow from it.
    traits = traits_of(run) & {CALLBACK, LIMITS, FILES}
    run_settle(run, outcome, sources=[Status(run.status)], who="person", actor=word.actor, traits=traits)
