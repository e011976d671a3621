"""The write doors of runs: submit and cancel."""

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Overloaded, ToolHubError
from core.failpoints import failpoint
from core.metrics import RUNS
from execution.engine.accept import accept_finished, accept_pending, accepted_of, run_hand_over
from execution.engine.accepted import Accepted
from execution.engine.begin import Unbegun, begin_accepted, begin_new, has_short_way
from execution.engine.call import call_of
from execution.engine.calls.checks import Refuse, call_check, key_check
from execution.engine.calls.refusals import refusal_record
from execution.engine.doubt import LOST, is_begun
from execution.engine.events import event_add, event_next
from execution.engine.features import LIFE, Conflict
from execution.engine.lease import Lease
from execution.engine.outcomes import failure
from execution.engine.perform import run_carry_out
from execution.engine.plans import TRIES, planned
from execution.engine.requests import CallRequest, at_once_of
from execution.engine.runtimes import RUNTIMES
from execution.engine.settle import run_settle
from execution.engine.states import FINAL
from execution.engine.store.known import Proof
from execution.event_kinds import RUN_CANCEL_ASKED
from execution.models import IdempotencyKey, Run, Status
from execution.run_events import CANCEL_ASKED
from execution.side_effects import SideEffect
from registry.selectors import ResolvedTool
from security.principals import PersonaPrincipal


@dataclass(frozen=True)
class Manner:
    """How the caller wants to be served: seconds to wait, and whether at once with 202."""

    wait_s: float
    detached: bool = False


def run_submit(
    *,
    principal: PersonaPrincipal,
    name: str,
    request: CallRequest,
    manner: Manner,
    key: str | None = None,
    found: ResolvedTool | None = None,
) -> Run:
    """Takes a call through every check and accepts it; carries it out here when it is quick.

    `found` is the active version of the tool where the caller has read it already.
    Order: found, allowed, arguments, then the run. Raises NotFound (404), Denied (403),
    InvalidRequest (422), Conflict (409), ToolHubError (429), Overloaded (503). What is refused leaves
    an event in the ledger and no run.
    """
    refuse = functools.partial(refusal_record, principal)
    for _ in range(TRIES):
        checked = call_check(principal, name, request, found=found, refuse=refuse)
        with _refused(refuse, checked.found.name):
            key_check(key)
            run = _accept(accepted_of(principal, checked, key), manner)
        if isinstance(run, Run):
            return _counted(run)
        # What it was decided on has changed, and nothing was written: what holds now decides.
        found = None
    raise Overloaded("What the call is decided on changes again and again.", retry_after=1)


def run_submit_known(
    *,
    principal: PersonaPrincipal,
    found: ResolvedTool,
    request: CallRequest,
    manner: Manner,
    proof: Proof,
    key: str | None = None,
) -> Run | None:
    """The same by what this process knew before; None where `run_submit` has to decide.

    A run is written only where all still holds that the `proof` names. Nothing is recorded of a refusal here:
    it may rest on what is over. Nor is a run returned that has the key already: who may see it is decided
    anew.
    """
    if request.version or not _may_be_proven(found):
        return None
    try:
        checked = call_check(principal, found.name, request, found=found)
        key_check(key)
        taken = _take(accepted_of(principal, checked, key, proof), manner)
    except (IntegrityError, ToolHubError):
        return None
    # Not within the above: what has begun is never submitted again, whatever becomes of it.
    run = _carry_out(taken)
    return _counted(run) if isinstance(run, Run) else None


def _counted(run: Run) -> Run:
    RUNS.labels("inline" if run.inline else "queued").inc()
    return run


def _accept(accepted: Accepted, manner: Manner) -> Run | Conflict | None:
    """The run of a call that passed its checks, or of an earlier one with its key.

    A Conflict where what it was decided on has changed, None where its proof does not hold.
    """
    try:
        taken = _take(accepted, manner)
    except (IntegrityError, ToolHubError) as error:
        # Of all calls with a key one wins it, and perhaps a limit's last place; the others return its run.
        if accepted.key and (earlier := _earlier_run(accepted)):
            return earlier
        if not accepted.key or isinstance(error, ToolHubError):
            raise
        taken = _take(accepted, manner)  # the key's time was over
    return _carry_out(taken)


@contextlib.contextmanager
def _refused(refuse: Refuse, tool: str) -> Iterator[None]:
    """Lets the ledger hear of a refusal that comes after the checks: a key's, a limit's, a full queue's."""
    try:
        yield
    except ToolHubError as error:
        decision = error.data.get("decision")
        refuse(tool, error, {"decision": decision} if decision else {"errors": []})
        raise


def _earlier_run(accepted: Accepted) -> Run | None:
    """The run of an earlier call with this key. Raises ToolHubError (409) when that call was another."""
    mine = IdempotencyKey.objects.filter(persona_id=accepted.principal.persona_id, key=accepted.key)
    row = mine.select_related("run__tool_version").first()
    if row is None:
        return None
    if row.expires_at <= timezone.now():
        mine.filter(pk=row.pk).delete()
        return None
    if bytes(row.request_hash) != accepted.request_hash():
        raise ToolHubError("This Idempotency-Key was used for another request.", code="IDEMPOTENCY_CONFLICT")
    return row.run


def _may_be_proven(found: ResolvedTool) -> bool:
    """Whether a proof may accept a call of the tool: not where runs of it have to be counted first."""
    return at_once_of(found.version) is None or not RUNTIMES[found.version.runner].may_run_inline


def _is_brief(found: ResolvedTool) -> bool:
    """Whether calls of the tool may be over when they are accepted: built in, harmless, nothing to count.

    What has more to do when it ends needs a row that can wait, and without a row nobody could count how many
    of a tool's runs there are at once. Limits come before work.
    """
    version = found.version
    counted = found.policy.limits or at_once_of(version) is not None
    harmless = RUNTIMES[version.runner].is_trusted and version.is_pure and not version.uses_network
    return harmless and not version.extras and not version.takes_config and not counted


def _take(accepted: Accepted, manner: Manner) -> Lease | Run | Conflict | None:
    """Accepts the call: a lease where it has begun here, else its run, over or waiting."""
    version, found = accepted.version, accepted.found
    quick = accepted.bounds.timeout_ms <= min(manner.wait_s * 1000, settings.INLINE_MAX_MS)
    runtime = RUNTIMES[version.runner]
    inline = settings.INLINE and not manner.detached and quick and runtime.may_run_inline
    inline = inline and accepted.asks is None
    if inline and _is_brief(found) and not accepted.request.callback_url:
        run = accepted.run(inline=True)
        outcome = LIFE.call_run(call_of(run, inline=True, attempt=1))
        return run if accept_finished(accepted, run, outcome) else None
    if not inline:
        return accept_pending(accepted, inline=False)
    return _accept_begun(accepted)


def _carry_out(taken: Lease | Run | Conflict | None) -> Run | Conflict | None:
    """Carries out what has begun here; anything else stays as it is."""
    if not isinstance(taken, Lease):
        return taken
    if run_carry_out(taken, inline=True) and taken.run.status in FINAL:
        return taken.run
    return Run.objects.select_related("tool_version").get(pk=taken.run.pk)


def _accept_begun(accepted: Accepted) -> Lease | Run | Conflict | None:
    """Accepts a run and begins it, in one transaction; the run alone where it waits for a worker instead."""
    if has_short_way(accepted):
        return planned(functools.partial(begin_new, accepted))
    if accepted.proof:
        return None
    run: Run | Conflict | None = None
    lease: Lease | Unbegun | None = None
    try:
        with transaction.atomic():
            run = accept_pending(accepted, inline=True)
            if isinstance(run, Conflict):
                return run
            lease = begin_accepted(run)
            if lease is Unbegun.TAKEN:  # a cap is full
                run_hand_over(run)
            elif lease is Unbegun.REFUSED:
                transaction.set_rollback(True)
            failpoint("start.before")
    except LOST:
        if not isinstance(lease, Lease) or connection.in_atomic_block or not is_begun(lease.run, lease.token):
            raise
    if lease is Unbegun.REFUSED:  # revoked this very moment: the run's outcome says so
        return accept_pending(accepted, inline=False)
    failpoint("start.after")
    return lease if isinstance(lease, Lease) else run


def run_cancel(*, by: Actor, run: Run) -> bool:
    """Asks a run to stop. True when it will, or has; false when there is nothing left to stop.

    One that waits ends at once, with its effects where an attempt was begun, and what features have going on
    for it is asked to stop, too. One that runs is told by its worker's next beat.
    """
    words, at = f"Cancelled by {by.name}.", timezone.now()
    # One that waits has nothing under way: of what was begun before, its attempts tell.
    none = SideEffect.NONE
    outcome = failure("CANCELLED", words, at=at, status=Status.CANCELLED, side_effect=none)
    for _ in range(TRIES):
        current = Run.objects.select_related("tool_version").get(pk=run.pk)
        status = Status(current.status)
        # A run whose outcome is unknown has nothing left to stop: a person resolves it.
        if status in FINAL or status is Status.OUTCOME_UNKNOWN:
            return False
        if status is Status.RUNNING:
            asked = _ask_to_stop(current, by)
        else:
            before = functools.partial(_cancel_asked, by)
            asked = run_settle(current, outcome, sources=[status], who="caller", actor=by, before=before)
        if asked:
            for stop in LIFE.acting("after_cancel"):
                stop(run, by)
            return True
    return False


def _ask_to_stop(run: Run, by: Actor) -> bool:
    with transaction.atomic():
        here = Run.objects.filter(pk=run.pk, status=Status.RUNNING)
        if not here.update(cancel_asked_at=timezone.now()):
            return False
        event_add(run.pk, CANCEL_ASKED, {"by": by.name})
        record(Entry(RUN_CANCEL_ASKED, by, "tool", run.tool, {}, run.pk))
    return True


def _cancel_asked(by: Actor, run: Run) -> bool:
    Run.objects.filter(pk=run.pk).update(cancel_asked_at=timezone.now())
    event_next(run, CANCEL_ASKED, {"by": by.name})
    record(Entry(RUN_CANCEL_ASKED, by, "tool", run.tool, {}, run.pk))
    for drop in LIFE.acting("at_cancel"):
        drop(run, by)
    return True
