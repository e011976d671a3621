"""The write doors of runs: submit and cancel."""

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import ToolHubError
from core.failpoints import failpoint
from core.metrics import RUNS
from execution.engine.accept import Accepted, accept_finished, accept_pending, accepted_of, run_hand_over
from execution.engine.begin import Refused, begin_accepted, begin_new
from execution.engine.calls.checks import Refuse, call_check, key_check, limit_denied
from execution.engine.calls.refusals import refusal_record
from execution.engine.calls.requests import CallRequest, at_once_of
from execution.engine.claim import Lease
from execution.engine.doubt import LOST, is_begun
from execution.engine.events import event_add
from execution.engine.finish import outcome_write
from execution.engine.outcomes import Outcome, failure
from execution.engine.perform import run_carry_out
from execution.engine.selectors import STATUS_GROUPS
from execution.engine.states import FINAL
from execution.engine.store import hotpath
from execution.engine.store.hotpath import Outdated
from execution.event_kinds import RUN_CANCEL_ASKED
from execution.features.approvals.ask import approval_ask
from execution.features.approvals.expiry import approval_close
from execution.features.effects.apply import Apply, effects_follow
from execution.models import IdempotencyKey, Recovery, Run, Status, Verdict
from execution.run_events import CANCEL_ASKED
from execution.runners.call import call_of
from execution.runners.perform import call_run
from execution.runners.registry import RUNTIMES
from registry.selectors import ResolvedTool
from security.decisions import Check
from security.policy.usage import LimitGone, LimitReached, limits_held
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
    proof: hotpath.Proof | None = None,
) -> Run:
    """Takes a call through every check and accepts it; carries it out here when it is quick.

    `found` is the active version of the tool where the caller has read it already.
    Order: found, allowed, arguments, then the run. Raises NotFound (404), Denied (403),
    InvalidRequest (422), Conflict (409), ToolHubError (429), Overloaded (503). What is refused leaves
    an event in the ledger and no run.

    With a `proof` of what this process knew before, a run is written only here, and only where all of it
    still holds; else, and for every refusal, Outdated is raised: no run is there, and nothing had an effect.
    """
    refuse = functools.partial(refusal_record, principal) if proof is None else _outdated
    checked = call_check(principal, name, request, found=found, refuse=refuse)
    with _refused(refuse, checked.found.name):
        key_check(key)
    accepted = accepted_of(principal, checked, key, proof)
    with _refused(refuse, checked.found.name):
        if key and (earlier := _earlier_run(accepted)):
            return earlier
        try:
            # A hook is no call yet.
            run: Run | None = _carry_out(
                accepted, checked.found, manner, None if request.hook else checked.decision.asks
            )
        except IntegrityError:
            # Of many equal calls at once one wins the key; the others return its run.
            if key and (winner := _earlier_run(accepted)):
                return winner
            raise
        except LimitGone:
            run = None
        except LimitReached as reached:
            # An equal call at once may have taken the last place.
            if key and (winner := _earlier_run(accepted)):
                return winner
            raise limit_denied(principal, checked.found, request, reached.told) from reached
    if run is None:
        # A limit was taken away meanwhile, and nothing was written: what holds now decides.
        return run_submit(principal=principal, name=name, request=request, manner=manner, key=key)
    RUNS.labels("inline" if run.inline else "queued").inc()
    return run


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


def _outdated(*_: Any) -> None:
    raise Outdated


def may_be_proven(found: ResolvedTool) -> bool:
    """Whether one statement may accept calls of the tool here: nothing has to be counted before."""
    version = found.version
    counted = at_once_of(version) is not None or found.policy.limits
    return settings.INLINE and RUNTIMES[version.runner].may_run_inline and not counted


def _is_brief(found: ResolvedTool) -> bool:
    """Whether calls of the tool may be over when they are accepted: built in, harmless, nothing to count.

    What has more to do when it ends needs a row that can wait, and without a row nobody could count how many
    of a tool's runs there are at once. Limits come before work.
    """
    version = found.version
    harmless = RUNTIMES[version.runner].is_trusted and version.is_pure and not version.uses_network
    return harmless and not version.extras and not version.takes_config and may_be_proven(found)


def _carry_out(accepted: Accepted, found: ResolvedTool, manner: Manner, asks: Check | None) -> Run:
    version = accepted.version
    quick = accepted.bounds.timeout_ms <= min(manner.wait_s * 1000, settings.INLINE_MAX_MS)
    inline = settings.INLINE and not manner.detached and quick and RUNTIMES[version.runner].may_run_inline
    if asks is None and inline and _is_brief(found) and not accepted.request.callback_url:
        run = accepted.run(inline=True)
        return accept_finished(accepted, run, call_run(call_of(run, inline=True, attempt=1)))
    if accepted.proof and (asks is not None or not inline):
        raise Outdated
    if asks is not None:
        with limits_held(accepted.limits):
            return approval_ask(accepted, asks)
    if not inline:
        with limits_held(accepted.limits):
            return accept_pending(accepted, inline=False)
    # No longer than this: what comes then has begun, and is not done again.
    with limits_held(accepted.limits):
        run, lease = _accept_begun(accepted)
    if lease and run_carry_out(lease, inline=True) and lease.run.status in FINAL:
        return lease.run
    return Run.objects.select_related("tool_version").get(pk=run.pk)


def _accept_begun(accepted: Accepted) -> tuple[Run, Lease | None]:
    """Accepts a run and begins it, in one transaction; no lease where it waits for a worker after all."""
    if at_once := begin_new(accepted):
        return at_once.run, at_once
    if accepted.proof:
        raise Outdated
    lease = None
    try:
        with transaction.atomic():
            run = accept_pending(accepted, inline=True)
            lease = begin_accepted(run)
            if lease is None:  # a cap is full
                run_hand_over(run)
            failpoint("start.before")
    except Refused:  # revoked this very moment: the run's outcome says so
        return accept_pending(accepted, inline=False), None
    except LOST:
        if lease is None or connection.in_atomic_block or not is_begun(run, lease.token):
            raise
    failpoint("start.after")
    return run, lease


def run_cancel(*, by: Actor, run: Run) -> bool:
    """Asks a run to stop. True when it will, or has; false when there is nothing left to stop.

    One that waits ends at once, with its effects where an attempt was begun, and a fallback that it waits for
    is asked to stop, too. One that runs is told by its worker's next beat.
    """
    outcome = failure("CANCELLED", f"Cancelled by {by.name}.", at=timezone.now(), status=Status.CANCELLED)
    if not effects_follow(outcome, functools.partial(_cancel, by, run)):
        return False
    fallback = Recovery.objects.select_related("child").filter(run=run).first()
    if fallback and fallback.child:
        run_cancel(by=by, run=fallback.child)
    return True


def _cancel(by: Actor, run: Run, outcome: Outcome, apply: Apply) -> bool:
    with transaction.atomic():
        here = Run.objects.filter(pk=run.pk)
        # A run whose outcome is unknown has nothing left to stop: a person resolves it.
        stoppable = here.exclude(status__in=[*FINAL, Status.OUTCOME_UNKNOWN])
        asked = stoppable.update(cancel_asked_at=timezone.now())
        if not asked:
            return False
        event_add(run.pk, CANCEL_ASKED, {"by": by.name})
        record(Entry(RUN_CANCEL_ASKED, by, "tool", run.tool, {}, run.pk))
        approval_close(run, Verdict.WITHDRAWN, by)
        write = functools.partial(outcome_write, run.pk, None, who="caller", outcome=outcome, actor=by)
        for waiting in STATUS_GROUPS["waiting"]:
            if write(source=waiting, apply=apply):
                break
    return True
