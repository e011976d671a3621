"""The write doors of assignments."""

from django.db import IntegrityError, transaction

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict, InvalidRequest
from registry.models import Assignment, Package, Tool
from security.acting import PERSONAS, By, acting, own_check, person_behind
from security.giving import sight_check
from security.models import Persona


def assignment_create(
    *, by: By, persona: Persona, tool: Tool | None = None, package: Package | None = None
) -> Assignment:
    """Lets a persona see and call one tool, or all tools of a package. Exactly one of the two is given.

    Raises Denied, InvalidRequest, Conflict when it is assigned already.
    """
    target = tool or package
    if target is None or (tool and package):
        raise InvalidRequest("Assign one tool or one package.")
    actor = acting(by, "registry.add_assignment", PERSONAS, on=[persona, target])
    own_check(by, persona.pk)
    sight_check(by, target.name if tool else f"package:{target.name}")
    try:
        with transaction.atomic():
            row = Assignment.objects.create(
                persona=persona, tool=tool, package=package, assigned_by=person_behind(by)
            )
            record(_assignment_entry("assignment.created", actor, row))
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
            record(_assignment_entry("assignment.deleted", actor, assignment))


def _assignment_entry(kind: str, by: Actor, row: Assignment) -> Entry:
    target = {"tool": row.tool.name} if row.tool else {"package": row.package.name if row.package else ""}
    return Entry(kind, by, "persona", str(row.persona_id), {"persona": row.persona.name, **target})
