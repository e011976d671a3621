"""The audit page finds each kind of event by each filter, and tells it in words."""

import pytest
from django.db import transaction
from django.test import Client

from audit.kinds import EventKind, families_declared, kinds_declared, subjects_declared
from audit.ledger import Entry, event_row, record
from audit.models import Event
from audit.selectors import events_list, events_told
from core.actors import SYSTEM
from security.models import User
from tests.audit.values import value_of

KINDS = kinds_declared()


def write(kind: EventKind, subject: str, number: int = 1) -> Event:
    data = {name: value_of(name) for name in kind.sentence.needed}
    with transaction.atomic():
        return record(Entry(kind, SYSTEM, subject, str(number), data))


@pytest.mark.django_db
def test_each_filter_of_the_audit_finds_each_kind(eyes: Client, admin: User) -> None:
    made = {}
    for kind in KINDS:
        for subject in sorted(kind.subjects):
            made[kind.name, subject] = write(kind, subject).pk

    def found(**filters: str) -> set[int]:
        return set(events_list(filters, admin).filter(pk__in=made.values()).values_list("pk", flat=True))

    families = [found(family=family.name) for family in families_declared()]
    assert all(families)
    assert sum(map(len, families)) == len(made)
    for kind in KINDS:
        own = {pk for (name, _), pk in made.items() if name == kind.name}
        assert found(kind=kind.name) == own
        assert found(kind=kind.name, family=kind.family.name) == own
        assert own <= found(actor_kind="system")
    for name in subjects_declared():
        assert found(subject_kind=name) == {pk for (_, subject), pk in made.items() if subject == name}
    page = eyes.get("/audit/?family=access&since=1")
    assert page.status_code == 200
    assert page.context["kinds"] == [kind.name for kind in KINDS if kind.family.name == "access"]
    body = eyes.get("/audit/").content.decode()
    for family in families_declared():
        assert f'<option value="{family.name}"' in body
    for kind in KINDS:
        assert f'<option value="{kind.name}"' in body


@pytest.mark.django_db
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_reads_in_the_list_and_on_its_page(eyes: Client, kind: EventKind) -> None:
    event = write(kind, min(kind.subjects))
    (told,) = events_told([event])
    words = [part.text for part in told.parts if not part.form]
    for page in (eyes.get(f"/audit/?kind={kind.name}"), eyes.get(f"/audit/{event.pk}/")):
        body = page.content.decode()
        assert kind.name in body
        assert all(word.strip().replace("'", "&#x27;") in body for word in words)


@pytest.mark.django_db
def test_a_family_or_kind_that_is_not_there_is_said_to_be_ignored(eyes: Client) -> None:
    body = eyes.get("/audit/?family=everything").content.decode()
    assert (
        "The filter family &quot;everything&quot; was ignored. Expected one of approvals, deliveries" in body
    )
    assert "was ignored: no event has it" in eyes.get("/audit/?kind=grant.creates").content.decode()


@pytest.mark.django_db
def test_events_of_kinds_that_are_no_longer_declared_stay_readable(eyes: Client) -> None:
    row = event_row(Entry(KINDS[0], SYSTEM, min(KINDS[0].subjects), "1", {}))
    row.kind = "gone.happened"
    with transaction.atomic():
        row.save(force_insert=True)
    assert "gone.happened" in eyes.get("/audit/?kind=gone.happened").content.decode()
    assert eyes.get(f"/audit/{row.pk}/").status_code == 200
