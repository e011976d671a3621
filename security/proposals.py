"""Changes that wait for a second person: confirmed, refused, withdrawn, and read."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import CharField, Exists, Model, OuterRef, Q, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from audit.kinds import EventKind
from audit.ledger import record
from core.errors import Conflict, Denied, NotFound
from security.event_kinds import CHANGE_CONFIRMED, CHANGE_REFUSED, CHANGE_WITHDRAWN
from security.loosening import DOORS, confirmation
from security.models import User
from security.permissions import require
from security.policy.models import ProposedChange, SafeguardSetter
from security.proposal_rows import proposal_entry, unpacked
from security.sharing.kinds import KINDS
from security.sharing.reach import may

Decision = ProposedChange.Decision
_KINDS: dict[str, EventKind] = {
    Decision.CONFIRMED: CHANGE_CONFIRMED,
    Decision.REFUSED: CHANGE_REFUSED,
    Decision.WITHDRAWN: CHANGE_WITHDRAWN,
}


def proposal_confirm(*, by: User, proposal: ProposedChange) -> None:
    """Make the change, in the name of who proposed it. Raises Denied, Conflict."""
    with transaction.atomic():
        row = _waiting(proposal)
        _second_check(by, row)
        door = DOORS.get(row.door)
        if door is None:
            raise Conflict("This hub no longer has that change.", suggestions=["Refuse it."])
        try:
            arguments = {name: unpacked(value) for name, value in row.arguments.items()}
            with confirmation(by, row.changes):
                door(by=row.proposed_by, **arguments)
        except Denied as error:
            raise Conflict(
                f"{row.proposed_by.get_username()} may not make this change any more: {error.message}",
                suggestions=["Refuse it."],
            ) from error
        _decide(row, by, Decision.CONFIRMED)


def proposal_refuse(*, by: User, proposal: ProposedChange) -> None:
    """Refuse a change, or withdraw one's own. Raises Denied, Conflict."""
    with transaction.atomic():
        row = _waiting(proposal)
        own = row.proposed_by_id == by.pk
        if not own:
            _second_check(by, row)
        _decide(row, by, Decision.WITHDRAWN if own else Decision.REFUSED)


def _waiting(proposal: ProposedChange) -> ProposedChange:
    rows = ProposedChange.objects.select_for_update(of=("self",)).select_related("proposed_by")
    row = rows.get(pk=proposal.pk)
    if row.decision:
        raise Conflict(f"The change was {row.get_decision_display()} already.")
    return row


def _second_check(by: User, row: ProposedChange) -> None:
    if by.pk == row.proposed_by_id:
        raise Denied("You proposed this change: somebody else confirms it.")
    require(by, row.permission, *_things(row))


def _decide(row: ProposedChange, by: User, decision: str) -> None:
    row.decision, row.decided_by, row.decided_at = decision, by, timezone.now()
    row.save(update_fields=["decision", "decided_by", "decided_at"])
    record(proposal_entry(_KINDS[row.decision], row, by))


def may_confirm(person: User, row: ProposedChange) -> bool:
    """Whether the change is the person's to confirm or refuse."""
    if row.decision or person.pk == row.proposed_by_id or not person.is_active:
        return False
    return _may(person, row)


def _may(person: User, row: ProposedChange) -> bool:
    try:
        things = _things(row)
    except NotFound:
        return False
    if not things:
        return person.has_perm(row.permission)
    return all(may(person, row.permission, thing) for thing in things)


def proposals_waiting(person: User) -> list[ProposedChange]:
    """The changes that the person may confirm; the oldest first."""
    rows = ProposedChange.objects.filter(decision="").exclude(proposed_by=person)
    return [row for row in rows.select_related("proposed_by").order_by("pk") if may_confirm(person, row)]


def proposals_own(person: User) -> list[ProposedChange]:
    """The person's own changes that wait; the oldest first."""
    return list(ProposedChange.objects.filter(decision="", proposed_by=person).order_by("pk"))


def proposals_about(person: User, kind: str, subject_id: str) -> list[ProposedChange]:
    """The waiting changes of one thing, for who may confirm or has proposed them."""
    rows = ProposedChange.objects.filter(decision="", subject_kind=kind, subject_id=subject_id)
    found = rows.select_related("proposed_by").order_by("pk")
    return [row for row in found if row.proposed_by_id == person.pk or may_confirm(person, row)]


def safeguards_exist(kind: str) -> Q:
    """Whether `safeguards_read` finds something: a condition on rows of things that the log names by key."""
    key = Cast(OuterRef("pk"), CharField())
    setters = SafeguardSetter.objects.filter(subject=Concat(Value(f"{kind}:"), key)).order_by()
    waiting = ProposedChange.objects.filter(decision="", subject_kind=kind, subject_id=key).order_by()
    return Q(Exists(setters)) | Q(Exists(waiting))


def safeguards_read(
    subject: tuple[str, str], kinds: Sequence[str]
) -> tuple[list[tuple[str, str, datetime]], bool]:
    """Who set which safeguard of a thing, and when, and whether a change of it waits; one query."""
    set_rows = SafeguardSetter.objects.filter(kind__in=kinds, subject=":".join(subject)).order_by()
    waiting = ProposedChange.objects.filter(decision="", subject_kind=subject[0], subject_id=subject[1])
    rows = set_rows.values_list("field", "set_by", "set_at").union(
        waiting.order_by().values_list("decision", "title", "proposed_at")
    )
    found = sorted(rows)
    return [row for row in found if row[0]], any(not row[0] for row in found)


def proposals_decided(person: User, count: int = 10) -> list[ProposedChange]:
    """The latest decided changes that the person proposed or decided."""
    rows = ProposedChange.objects.exclude(decision="").select_related("proposed_by", "decided_by")
    mine = rows.filter(proposed_by=person) | rows.filter(decided_by=person)
    return list(mine.order_by("-decided_at")[:count])


def proposal_get(pk: int, person: User) -> ProposedChange:
    """Return a change that the person proposed or may confirm; raise NotFound otherwise."""
    row = ProposedChange.objects.select_related("proposed_by", "decided_by").filter(pk=pk).first()
    if row is None or not (row.proposed_by_id == person.pk or _may(person, row)):
        raise NotFound("There is no such proposed change.")
    return row


def _things(row: ProposedChange) -> Sequence[Model]:
    """The objects that the change is about. Raises NotFound when one is gone."""
    found: list[Model] = []
    for one in row.things:
        thing = KINDS[one["kind"]].rows.filter(pk=one["pk"]).first()
        if thing is None:
            raise NotFound(f"The {one['kind']} is gone.")
        found.append(thing)
    return found
