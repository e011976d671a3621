"""Which events of the ledger are kept from a person: those of what they do not reach."""

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast

from audit.models import Event
from execution.models import Run
from execution.schedules.selectors import schedules_seen
from registry.installations.models import Installation
from security.models import User
from security.sharing.kinds import KINDS
from security.sharing.reach import kept_from


def events_narrow(person: User, rows: QuerySet[Event]) -> QuerySet[Event]:
    """Leaves out what is about, or by, objects that teams keep from the person, and their runs.

    Of schedules and installations in such a hub only those stay that the person sees now.
    """
    kept = kept_from(person)
    if not kept:
        return rows
    for name, statements in kept.items():
        for things in statements:
            said = things.annotate(said=Cast(KINDS[name].key, CharField()))
            for role in ("subject", "actor"):
                # Its kind stands within: so the database goes by an index, event by event.
                named = said.alias(kind=Value(name, CharField())).filter(kind=OuterRef(f"{role}_kind"))
                rows = rows.exclude(Exists(named.filter(said=OuterRef(f"{role}_id"))))
    for column, key in (("persona", "pk"), ("tool", "name")):
        for things in kept[column]:
            of_kept = Run.objects.filter(Exists(things.filter(**{key: OuterRef(column)})))
            rows = rows.exclude(Exists(of_kept.filter(pk=OuterRef("run_id"))))
    packages = Q(*(Q(package__in=things.values("name")) for things in kept["package"]), _connector=Q.OR)
    theirs = Installation.objects.filter(packages)
    rows = rows.exclude(
        subject_kind="installation", subject_id__in=[str(pk) for pk in theirs.values_list("pk", flat=True)]
    )
    schedules = [str(pk) for pk in schedules_seen(person).values_list("pk", flat=True)]
    return rows.exclude(Q(subject_kind="schedule") & ~Q(subject_id__in=schedules))
