"""The part of approvals in a run's life."""

from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.utils import timezone

from audit.ledger import Entry
from core.actors import Actor
from core.errors import Overloaded
from core.failpoints import failpoint
from execution.engine.accepted import Accepted
from execution.engine.features import ASKS, Conflicts, Feature, Held, Plan, Traits
from execution.event_kinds import APPROVAL_ASKED as APPROVAL_ASKED_KIND
from execution.features.approvals.binding import approved_by, binding_of
from execution.features.approvals.expiry import approval_close
from execution.features.approvals.notify import approval_notify
from execution.models import Approval, Run, Status, Verdict
from execution.run_events import APPROVAL_ASKED

# Of one persona; more would only hide each other in the queue.
OPEN_MAX = 100


class ApprovalsFeature(Feature):
    """Lets a call wait until a person has decided on it; those who may decide are told."""

    traits: ClassVar[Traits] = frozenset({ASKS})

    def at_accept(self, accepted: Accepted, run: Run, conflicts: Conflicts) -> Plan | None:
        """The run waits for a person. Raises Overloaded where too many of the persona's wait already."""
        if accepted.asks is None:
            return None
        persona_id = accepted.principal.persona_id
        if Run.objects.filter(status=Status.AWAITING_APPROVAL, persona=persona_id).count() >= OPEN_MAX:
            raise Overloaded(
                f"{OPEN_MAX} calls of {accepted.principal.persona} wait for approval already.", retry_after=60
            )
        now = timezone.now()
        approval = Approval(
            run=run,
            binding=binding_of(run),
            why=accepted.asks.reason[:500],
            asked_at=now,
            expires_at=now + timedelta(hours=settings.APPROVAL_HOURS),
        )
        told = {"why": approval.why, "expires_at": approval.expires_at.isoformat()}
        data = {**told, "binding": approval.binding.hex()}

        def notify(run: Run, held: Held) -> None:
            approval_notify(approval)
            failpoint("ask.before")

        return Plan(
            status=Status.AWAITING_APPROVAL,
            events=[(APPROVAL_ASKED, told)],
            entries=[Entry(APPROVAL_ASKED_KIND, accepted.principal.actor, "tool", run.tool, data, run.pk)],
            rows=[approval],
            after=[notify],
        )

    def settled(self, run: Run) -> str:
        """Who approved exactly this call."""
        return approved_by(run)

    def at_cancel(self, run: Run, by: Actor) -> None:
        """A request that waits is withdrawn."""
        approval_close(run, Verdict.WITHDRAWN, by)
