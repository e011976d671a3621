"""The write doors of assignments."""

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict, Denied, InvalidRequest
from registry.collections.models import Collection
from registry.collections.selectors import collection_locked
from registry.event_kinds import ASSIGNMENT_CREATED, ASSIGNMENT_DELETED
from registry.models import Assignment, Package, Tool
from security.acting import PERSONAS, By, acting, own_check, person_answering, person_behind
from security.giving import sight_check
from security.models import Persona
from security.sharing.reach import within

ASSIGN = "registry.add_assignment"


def assignment_create(
    *,
    by: By,
    persona: Persona,
    tool: Tool | None = None,
    package: Package | None = None,
    collection: Collection | None = None,
) -> Assignment:
    """Lets a persona see and call one tool, or all tools of a package or collection; one of them is given.

    Raises Denied, InvalidRequest, NotFound, Conflict when it is assigned already.
    """
    given: dict[str, Tool | Package | Collection | None]
    given = {"tool": tool, "package": package, "collection": collection}
    targets = [(kind, one) for kind, one in given.items() if one is not None]
    if len(targets) != 1:
        raise InvalidRequest("Assign one tool, one package or one collection.")
    ((kind, target),) = targets
    actor = acting(by, ASSIGN, PERSONAS, on=[persona, target])
    own_check(by, persona.pk)
    sight_check(by, target.name if tool else f"{kind}:{target.name}")
    try:
        with transaction.atomic():
            if collection is not None:
                # Nobody puts a tool in, or deletes it, between the look at its tools and the assignment.
                given["collection"] = collection_locked(collection)
                _tools_check(by, collection, Tool.objects.filter(memberships__collection=collection))
            if package is not None:
                _tools_check(by, package, Tool.objects.filter(package=package))
            row = Assignment.objects.create(persona=persona, **given, assigned_by=person_behind(by))
            record(assignment_entry(ASSIGNMENT_CREATED, actor, row))
    except IntegrityError as error:
        raise Conflict(f"{target.name} is assigned to {persona.name} already.") from error
    return row


def assignment_delete(*, by: By, assignment: Assignment) -> None:
    """Takes an assignment back; the next call sees it. Raises Denied."""
    actor = acting(by, "registry.delete_assignment", PERSONAS, on=[assignment.persona])
    own_check(by, assignment.persona_id)
    with transaction.atomic():
        deleted, _ = Assignment.objects.filter(pk=assignment.pk).delete()
        if deleted:
            record(assignment_entry(ASSIGNMENT_DELETED, actor, assignment))


def _tools_check(by: By, target: Package | Collection, tools: QuerySet[Tool]) -> None:
    """Who assigns a whole may assign each of its tools: it gives no more than they could. Raises Denied."""
    if isinstance(by, Actor):
        return
    person = person_answering(by)
    if others := tools.exclude(pk__in=within(person, tools, ASSIGN).values("pk")).count():
        raise Denied(
            f"{person.get_username()} may not assign {others} of the tools of {target.name}.",
            suggestions=["Ask an admin, or assign the other tools by name."],
        )


def assignment_entry(kind: EventKind, by: Actor, row: Assignment) -> Entry:
    """What the record says of an assignment that is made or taken back."""
    what = "tool" if row.tool_id else "package" if row.package_id else "collection"
    return Entry(
        kind, by, "persona", str(row.persona_id), {"persona": row.persona.name, what: row.target.name}
    )
