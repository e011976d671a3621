"""The collections of a large world: many of usual size, and one of 5,000 tools."""

from datetime import datetime

from django.contrib.auth.models import Group

from registry.collections.models import Collection
from registry.models import Assignment, CollectionMember, Tool
from security.models import Persona
from toolhub.management.large_world import SUBJECTS

SETS, TOOLS_EACH, TOOLS_MOST = 400, 50, 5_000
# One in so many is a team's; each persona has two.
OWNED_EVERY, SETS_EACH = 5, 2


def set_name(number: int) -> str:
    """The name of a collection by its number; the first is the large one."""
    return f"{SUBJECTS[number % 10]}-set-{number:04}"


def sets_make(person_id: int, now: datetime) -> None:
    """Collections, their tools, and who is assigned them."""
    teams = list(Group.objects.filter(name__startswith="team-").order_by("name"))
    tools = list(Tool.objects.order_by("pk").values_list("pk", flat=True))
    sets = Collection.objects.bulk_create(
        Collection(
            name=set_name(number),
            description=f"What is used for {SUBJECTS[number % 10]} work",
            team=teams[number // OWNED_EVERY % len(teams)] if number % OWNED_EVERY == 1 else None,
        )
        for number in range(SETS)
    )
    CollectionMember.objects.bulk_create(
        (
            CollectionMember(collection=one, tool_id=tool, added_by_id=person_id, added_at=now)
            for number, one in enumerate(sets)
            for tool in _tools(tools, number)
        ),
        batch_size=5_000,
    )
    Assignment.objects.bulk_create(
        Assignment(persona=persona, collection=sets[(number * 7 + turn) % SETS], assigned_by_id=person_id)
        for number, persona in enumerate(Persona.objects.order_by("pk"))
        for turn in range(SETS_EACH)
    )


def _tools(tools: list[int], number: int) -> list[int]:
    """The tools of a set: the same for each number, some of them in several sets."""
    count = TOOLS_EACH if number else TOOLS_MOST
    begin = number * 97 % len(tools)
    return sorted({tools[(begin + step * 19) % len(tools)] for step in range(count)})
