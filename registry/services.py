"""The write doors of assignments."""

from django.db import IntegrityError, transaction

from audit.ledger import Entry, record
from core.errors import Conflict, InvalidRequest
from registry.models import Assignment, Package, Tool
from security.models import Persona, User
from security.permissions import actor_of, require


def assignment_create(
    *, by: User, persona: Persona, tool: Tool | None = None, package: Package | None = None
) -> Assignment:
    """Lets a persona see and call one tool, or all tools of a package. Exactly one of the two is given."""
    require(by, "registry.add_assignment")
    target = tool or package
    if target is None or (tool and package):
        raise InvalidRequest("Assign one tool or one package.")
    try:
        with transaction.atomic():
            row = Assignment.objects.create(persona=persona, tool=tool, package=package, assigned_by=by)
            record(_assignment_entry("assignment.created", by, row))
    except IntegrityError as error:
        raise Conflict(f"{target.name} is assigned to {persona.name} already.") from error
    return row


def assignment_delete(*, by: User, assignment: Assignment) -> None:
    """Takes an assignment back; the next call sees it."""
    require(by, "registry.delete_assignment")
    with transaction.atomic():
        deleted, _ = Assignment.objects.filter(pk=assignment.pk).delete()
        if deleted:
            record(_assignment_entry("assignment.deleted", by, assignment))


def _assignment_entry(kind: str, by: User, row: Assignment) -> Entry:
    target = {"tool": row.tool.name} if row.tool else {"package": row.package.name if row.package else ""}
    return Entry(kind, actor_of(by), "persona", str(row.persona_id), {"persona": row.persona.name, **target})
