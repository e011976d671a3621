"""The audit page finds each kind of event by each filter, and tells it in words."""

import pytest
from django.db import transaction
from django.test import Client

from audit.kinds import EventKind, families_declared, kinds_declared, subjects_declared
from audit.ledger import Entry, event_row, record
from audit.models import Event
from audit.selectors import events_list, events_told, kinds_are_rare
from core.actors import SYSTEM
from core.pages import Page
from security.models import User
from tests.audit.values import value_of

KINDS = kinds_declared()


def write(kind: EventKind, subject: str, number: int = 1) -> Event:
    data = {name: value_of(name) for name in kind.sentence.needed}
    with transaction.atomic():
        return record(Entry(kind, SYSTEM, subject, str(number), data))


def pages(eyes: Client, query: str) -> list[int]:
    """The events of a list, page by page to the oldest; the way back gives the same pages."""

    def page(way: str, cursor: str | None) -> Page[Event]:
        read: Page[Event] = eyes.get(f"/audit/?{query}&{way}={cursor}").context["page"]
        return read

    first: Page[Event] = eyes.get(f"/audit/?{query}").context["page"]
    down = [first]
    while down[-1].after:
        down.append(page("after", down[-1].after))
    up = [down[-1]]
    while up[-1].before:
        up.append(page("before", up[-1].before))
    assert [one.rows for one in up[::-1]] == [one.rows for one in down]
    return [event.pk for one in down for event in one.rows]


@pytest.fixture
def made(db: None) -> dict[tuple[str, str], int]:
    """An event of each kind about each thing that it can be about, by the names of both."""
    return {
        (kind.name, subject): write(kind, subject).pk for kind in KINDS for subject in sorted(kind.subjects)
    }


def test_each_filter_of_the_audit_finds_each_kind(
    eyes: Client, admin: User, made: dict[tuple[str, str], int]
) -> None:
    for family in families_declared():
        names = {kind.name for kind in KINDS if kind.family == family}
        own = [pk for (name, _), pk in made.items() if name in names]
        assert own
        assert pages(eyes, f"family={family.name}") == sorted(own, reverse=True)
        assert pages(eyes, f"family={family.name}&actor_kind=persona") == []
        assert eyes.get(f"/audit/?family={family.name}").context["kinds"] == sorted(names)
    for kind in KINDS:
        own = [pk for (name, _), pk in made.items() if name == kind.name]
        assert set(events_list({"kind": kind.name}, admin).values_list("pk", flat=True)) == set(own)
    subjects = {name: f"subject_kind={name}" for name in subjects_declared()}
    for name, query in subjects.items():
        assert set(pages(eyes, query)) >= {pk for (_, subject), pk in made.items() if subject == name}
    assert set(pages(eyes, "actor_kind=system&since=1")) >= set(made.values())


def test_a_family_is_narrowed_by_the_other_filters_too(
    eyes: Client, made: dict[tuple[str, str], int]
) -> None:
    kind = next(kind for kind in KINDS if len(kind.subjects) > 1)
    one, other = sorted(kind.subjects)[:2]
    query = f"family={kind.family.name}&kind={kind.name}&subject_kind={one}&since=1&q=1"
    assert pages(eyes, query) == [made[kind.name, one]]
    assert made[kind.name, other] in pages(eyes, f"family={kind.family.name}&subject_kind={other}")
    elsewhere = next(family.name for family in families_declared() if family != kind.family)
    assert pages(eyes, f"family={elsewhere}&kind={kind.name}") == []


def test_the_page_offers_each_family_and_kind(eyes: Client, db: None) -> None:
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


@pytest.mark.parametrize("query", ["family=access", "kind=persona.created"])
def test_frequent_kinds_are_listed_as_rare_ones_are(
    eyes: Client, made: dict[tuple[str, str], int], monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    given = dict([query.split("=")])
    assert kinds_are_rare(given)
    rare = pages(eyes, query)
    monkeypatch.setattr("audit.selectors.RARE", 0)
    assert not kinds_are_rare(given)
    assert pages(eyes, query) == rare
    assert not kinds_are_rare({"since": "1"})
