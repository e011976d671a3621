"""Which events of the ledger are kept from a person: those of what they do not reach."""

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet
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
    for name, things in kept.items():
        keys = things.annotate(said=Cast(KINDS[name].key, CharField())).values("said")
        rows = rows.exclude(subject_kind=name, subject_id__in=keys)
        rows = rows.exclude(actor_kind=name, actor_id__in=keys)
    of_kept = Q(persona__in=kept["persona"].values("pk")) | Q(tool__in=kept["tool"].values("name"))
    rows = rows.exclude(Exists(Run.objects.filter(of_kept, pk=OuterRef("run_id"))))
    theirs = Installation.objects.filter(package__in=kept["package"].values("name"))
    rows = rows.exclude(
        subject_kind="installation", subject_id__in=[str(pk) for pk in theirs.values_list("pk", flat=True)]
    )
    schedules = [str(pk) for pk in schedules_seen(person).values_list("pk", flat=True)]
    return rows.exclude(Q(subject_kind="schedule") & ~Q(subject_id__in=schedules))
