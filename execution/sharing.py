"""Which events of the ledger are kept from a person: those of what they do not reach."""

import functools
from collections.abc import Iterator
from typing import Any

from django.db.models import CharField, Exists, F, Func, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat, StrIndex

from audit.models import Event
from core.named import Fulfils, Statement, condition
from execution.entry.schedules.selectors import schedules_seen
from execution.models import Run
from registry.event_kinds import PACKAGE_UNINSTALLED, RELEASE_PUBLISHED
from registry.installations.ownership import installations_hidden
from security.decisions import APPROVED
from security.models import User
from security.sharing.kinds import KINDS
from security.sharing.reach import Own, everything, kept_by, own_of

# By kind of object, what is kept of it.
Kept = dict[str, list[QuerySet[Any]]]
# Members of events' data that list tools.
_LISTS = ("tools", "added", "removed")


def events_narrow(person: User, rows: QuerySet[Event]) -> QuerySet[Event]:
    """Leaves out what is about, or by, objects that teams keep from the person, and their runs.

    Of schedules and installations in such a hub only those stay that the person sees now. Installations of
    others that are not published yet are left out in any hub.
    """
    if everything(person):
        return rows
    hidden = [str(pk) for pk in installations_hidden(person).values_list("pk", flat=True)]
    installations = ~Q(subject_kind="installation", subject_id__in=hidden)
    own = own_of(person)
    if own is None:
        return rows.filter(installations) if hidden else rows
    schedules = [str(pk) for pk in schedules_seen(person).values_list("pk", flat=True)]
    # All at once: each further filter would copy the statement that there is.
    return rows.filter(
        Fulfils(Event, _written(own)),
        installations,
        ~(Q(subject_kind="schedule") & ~Q(subject_id__in=schedules)),
    )


@functools.lru_cache(maxsize=128)
def _written(own: Own) -> Statement:
    """What shows an event to who has this. Twenty conditions took Django longer than their answer."""
    kept = kept_by(own)
    told = (*kept, "capability", *_LISTS, "affected")
    rows = Event.objects.alias(**{f"told_{name}": Told("canonical", member=name) for name in told})
    listing = Q(kind=RELEASE_PUBLISHED.name) | Q(kind__startswith="collection.")
    beside = [*kept["persona"], *kept["package"]]
    return condition(
        rows.filter(
            *_about(kept),
            *_unnamed(kept),
            *_unlisted(kept["tool"], listing, _LISTS),
            *_unlisted(beside, Q(kind=PACKAGE_UNINSTALLED.name), ("affected",)),
        )
    )


def _about(kept: Kept) -> Iterator[Q]:
    """What an event is about, or by, is not kept."""
    for name, statements in kept.items():
        for things in statements:
            said = things.annotate(said=Cast(KINDS[name].key, CharField()))
            for role in ("subject", "actor") if name == "persona" else ("subject",):
                # Its kind stands within: so the database goes by an index, event by event.
                named = said.alias(kind=Value(name, CharField())).filter(kind=OuterRef(f"{role}_kind"))
                yield ~Q(Exists(named.filter(said=OuterRef(f"{role}_id"))))
    for column, key in (("persona", "pk"), ("tool", "name")):
        for things in kept[column]:
            of_kept = Run.objects.filter(Exists(things.filter(**{key: OuterRef(column)})))
            yield ~Q(Exists(of_kept.filter(pk=OuterRef("run_id"))))


def _unnamed(kept: Kept) -> Iterator[Q]:
    """It does not name, in what it tells of something else, a thing that is kept.

    Events of runs, of which there are most, name but what they are about: they are not looked into.
    """
    of_runs = Q(kind__startswith="run.")
    for name, statements in kept.items():
        for things in statements:
            yield of_runs | ~_among(f"told_{name}", things.values("name"))
    for things in kept["tool"]:
        approvals = things.annotate(said=Concat(Value(f"{APPROVED}:"), "name")).values("said")
        yield of_runs | ~_among("told_capability", approvals)


def _unlisted(kept: list[QuerySet[Any]], listing: Q, members: tuple[str, ...]) -> Iterator[Q]:
    """It does not list a thing that is kept: what it is about may be everybody's."""
    # The lists as JSON text: a name stands between quotation marks.
    lists = Concat(*(OuterRef(f"told_{name}") for name in members), Value(""), output_field=TextField())
    for things in kept:
        quoted = things.alias(quoted=Concat(Value('"'), "name", Value('"')))
        yield ~(listing & Q(Exists(quoted.alias(at=StrIndex(lists, F("quoted"))).filter(at__gt=0))))


def _among(column: str, named: QuerySet[Any]) -> Q:
    return Q(**{f"{column}__isnull": False, f"{column}__in": named})


class Told(Func):
    """A member of an event's data, as text; null where it has none."""

    output_field = TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """By SQLite's function."""
        return self.as_sql(
            compiler, connection, template="json_extract(%(expressions)s, '$.data.%(member)s')", **context
        )

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """As `json`: what is `jsonb` cannot hold each text."""
        return self.as_sql(
            compiler, connection, template="((%(expressions)s)::json #>> '{data,%(member)s}')", **context
        )
