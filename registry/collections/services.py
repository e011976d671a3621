"""The write doors of collections: what they are for, and which tools are in them."""

import re
from collections.abc import Sequence

from django.db import IntegrityError, transaction

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict, Denied
from core.identity import twin_of
from registry.collections.models import Collection
from registry.collections.selectors import ASSIGN, SEE_PERSONA, collection_locked
from registry.event_kinds import (
    ASSIGNMENT_DELETED,
    COLLECTION_CREATED,
    COLLECTION_DELETED,
    COLLECTION_DESCRIBED,
    COLLECTION_TOOLS_CHANGED,
)
from registry.models import Assignment, CollectionMember, Package, Tool
from registry.services import assignment_entry
from security.acting import PERSONAS, By, acting, own_check, person_answering, person_behind
from security.giving import sight_check
from security.models import Persona
from security.permissions import require
from security.policy.services import field_error
from security.sharing.reach import within

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
# Addresses of pages.
RESERVED = frozenset({"new"})
DESCRIPTION_MAX = 300
MEMBERS_MAX = 500
ADD, CHANGE, DELETE = "registry.add_collection", "registry.change_collection", "registry.delete_collection"


def collection_create(*, by: By, name: str, description: str = "", tools: Sequence[Tool] = ()) -> Collection:
    """A collection of these tools, which nobody is assigned yet.

    Raises Denied, InvalidRequest, Conflict when the name is taken.
    """
    actor = acting(by, ADD, PERSONAS)
    if not NAME.fullmatch(name) or name in RESERVED:
        raise field_error("name", "A letter, then letters, digits, - and _; at most 64, and not new.")
    description = _described(description)
    _tools_check(by, tools)
    person = person_behind(by)
    if twin_of(name, Collection.objects.values_list("name", flat=True)):
        raise _taken(name)
    try:
        with transaction.atomic():
            made = Collection.objects.create(name=name, description=description)
            record(_entry(COLLECTION_CREATED, actor, made, description=description))
            _members_write(actor, made, added=tools, removed=(), added_by=person.pk)
    except IntegrityError as error:
        raise _taken(name) from error
    return made


def _taken(name: str) -> Conflict:
    message = f"The collection {name} exists already, perhaps in other capitals."
    return Conflict(message, errors=[{"pointer": "/name", "message": message}])


def collection_describe(*, by: By, collection: Collection, description: str) -> None:
    """What it is for. Raises Denied, NotFound, InvalidRequest."""
    actor = acting(by, CHANGE, PERSONAS, on=[collection])
    description = _described(description)
    with transaction.atomic():
        row = collection_locked(collection)
        if row.description != description:
            row.description = description
            row.save(update_fields=["description"])
            record(_entry(COLLECTION_DESCRIBED, actor, row, description=description))


def members_change(
    *, by: By, collection: Collection, add: Sequence[Tool] = (), remove: Sequence[Tool] = ()
) -> None:
    """Puts tools in and takes tools out: its personas see and may call them, or not, from the next call on.

    Who puts a tool in may assign it, and to each of those personas. Raises Denied, NotFound, InvalidRequest.
    """
    actor = acting(by, CHANGE, PERSONAS, on=[collection])
    _tools_check(by, add)
    person = person_behind(by)
    with transaction.atomic():
        row = collection_locked(collection)
        own_check(by, *row.assignments.values_list("persona_id", flat=True))
        if add:
            _holders_check(by, row)
        _members_write(actor, row, added=add, removed=remove, added_by=person.pk)


def collection_delete(*, by: By, collection: Collection) -> None:
    """Deletes a collection: its personas no longer see its tools by it. Raises Denied, NotFound."""
    actor = acting(by, DELETE, PERSONAS, on=[collection])
    with transaction.atomic():
        row = collection_locked(collection)
        held = list(row.assignments.select_related("persona", "collection").order_by("pk"))
        own_check(by, *(one.persona_id for one in held))
        for one in held:
            record(assignment_entry(ASSIGNMENT_DELETED, actor, one))
        tools = list(row.members.order_by("tool__name").values_list("tool__name", flat=True))
        record(_entry(COLLECTION_DELETED, actor, row, tools=tools))
        Assignment.objects.filter(collection=row).delete()
        row.delete()


def members_of_package_remove(*, actor: Actor, package: Package) -> None:
    """Takes the tools of a package out of all collections: whoever gets their names next is in none."""
    rows = CollectionMember.objects.filter(tool__package=package).select_related("collection", "tool")
    gone: dict[Collection, list[Tool]] = {}
    for row in rows.order_by("collection__name", "tool__name"):
        gone.setdefault(row.collection, []).append(row.tool)
    for collection, tools in gone.items():
        _members_write(actor, collection_locked(collection), added=(), removed=tools, added_by=0)


def _members_write(
    actor: Actor, row: Collection, *, added: Sequence[Tool], removed: Sequence[Tool], added_by: int
) -> None:
    """In a transaction that holds the row."""
    held = set(row.members.values_list("tool_id", flat=True))
    new = {tool.pk: tool for tool in added if tool.pk not in held}
    gone = {tool.pk: tool for tool in removed if tool.pk in held and tool.pk not in new}
    if len(held) + len(new) - len(gone) > MEMBERS_MAX:
        raise field_error("tools", f"A collection has at most {MEMBERS_MAX} tools.")
    if not new and not gone:
        return
    CollectionMember.objects.bulk_create(
        [CollectionMember(collection=row, tool_id=pk, added_by_id=added_by) for pk in new]
    )
    CollectionMember.objects.filter(collection=row, tool__in=gone).delete()
    names = {
        key: sorted(tool.name for tool in tools.values())
        for key, tools in (("added", new), ("removed", gone))
        if tools
    }
    record(_entry(COLLECTION_TOOLS_CHANGED, actor, row, **names))


def _tools_check(by: By, tools: Sequence[Tool]) -> None:
    """Who puts a tool into a collection may assign it, and sees it where it is an agent. Raises Denied."""
    if isinstance(by, Actor):
        return
    person = person_answering(by)
    known = Tool.objects.filter(pk__in=[tool.pk for tool in tools])
    allowed = set(within(person, known, ASSIGN).values_list("pk", flat=True))
    for tool in tools:
        if tool.pk not in allowed:
            require(person, ASSIGN, tool)
    sight_check(by, *(tool.name for tool in tools))


def _holders_check(by: By, row: Collection) -> None:
    """Who puts a tool in gives it to all that have the collection: so they may assign to each. Raises Denied.

    Names those only that they see.
    """
    if isinstance(by, Actor):
        return
    person = person_answering(by)
    holders = Persona.objects.filter(pk__in=row.assignments.values("persona"))
    others = holders.exclude(pk__in=within(person, holders, ASSIGN).values("pk"))
    if not others.exists():
        return
    seen = list(within(person, others, SEE_PERSONA).order_by("name").values_list("name", flat=True)[:3])
    whom = ", ".join(seen) or "each persona"
    raise Denied(
        f"{person.get_username()} may not assign tools to {whom}, which {row.name} is assigned to.",
        suggestions=[f"Ask an admin to put them into {row.name}, or make a collection of your own."],
    )


def _described(text: str) -> str:
    text = text.strip()
    if len(text) > DESCRIPTION_MAX or "\0" in text:
        raise field_error("description", f"Use at most {DESCRIPTION_MAX} characters, and no NUL.")
    return text


def _entry(kind: EventKind, actor: Actor, row: Collection, **data: object) -> Entry:
    return Entry(kind, actor, "collection", row.name, {"collection": row.name, **data})
