"""`manage.py seed_large`: a large world by COPY, true to the rules of the rows that it makes."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from audit.ledger import leaf_hash
from audit.models import Event
from execution.memory.models import Session
from execution.models import Run, Status
from execution.rollups.models import Rollup, RollupPart
from registry.collections.models import Collection
from registry.models import Assignment, CollectionMember, Tool
from security.models import Persona, User
from toolhub.management.large_people import EVENTS_EACH, member_name
from toolhub.management.large_sets import SETS


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_the_rows_are_whole_and_their_events_hold() -> None:
    if connection.vendor != "postgresql":
        with pytest.raises(CommandError, match="needs PostgreSQL"):
            call_command("seed_large")
        return
    call_command("seed_large", tools=150, runs=400, personas=5)
    assert (Tool.objects.count(), Run.objects.count(), Persona.objects.count()) == (150, 400, 5)
    assert Assignment.objects.filter(package__isnull=False).count() == 10
    assert (
        Collection.objects.count()
        == SETS
        == len({row.collection_id for row in CollectionMember.objects.all()})
    )
    assert all(tool.active.tool_id == tool.pk for tool in Tool.objects.select_related("active"))
    whole = [row.calls for row in Rollup.objects.all()]
    assert sum(whole) == sum(part.calls for part in RollupPart.objects.all()) > 0
    kim = User.objects.get(username=member_name(0))
    assert kim.groups.filter(name="team-00").exists()
    assert Session.objects.get(pk=Session.objects.latest("pk").pk).events.count() == EVENTS_EACH
    done = Run.objects.exclude(status=Status.OUTCOME_UNKNOWN)
    assert Event.objects.filter(run_id__isnull=False).count() == 400 + done.count()
    for event in Event.objects.filter(run_id__isnull=False)[:50]:
        assert bytes(event.leaf) == leaf_hash(event.canonical.encode())
    for run in done[:20]:
        outcome = Event.objects.get(run_id=run.pk, kind="run.outcome")
        assert bytes(run.outcome_leaf) == bytes(outcome.leaf)
    # The sequences stand behind what was copied, and the triggers are on again.
    assert Persona.objects.create(name="later").pk > 5
    with pytest.raises(Exception, match="has its outcome"):
        Run.objects.filter(pk=done[0].pk).update(status=Status.PENDING)
    with pytest.raises(CommandError, match="filled before"):
        call_command("seed_large", tools=1, runs=0, personas=1)
