"""The people of a large world: teams that own and share, and what stands on record of their personas."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import Group, Permission
from django.db.models import F, Model
from django.db.models.functions import Mod

from execution.memory.models import Session, SessionEvent
from execution.models import Approval, Run, Verdict
from registry.models import Package, Tool, ToolPersonRight, ToolTeamRight
from security.models import Persona, User
from security.policy.models import Limit, Restriction
from toolhub.management.copying import Value, rows_copy
from toolhub.management.large_world import Size, tool_name

TEAMS = 40
PEOPLE = 500
# One in so many of packages and personas is a team's; of the tools, one in OWN_EVERY beside its package.
OWNED_EVERY, OWN_EVERY = 5, 200
SESSIONS_EACH, EVENTS_EACH = 40, 5
RIGHTS, RULES, DECIDED = 2_000, 500, 5_000
LEVELS = ("view", "execute", "manage", "approve")


def member_name(number: int) -> str:
    """The name of a person by their number; the first is in the first team."""
    return f"member-{number:04}"


def people_make(size: Size, now: datetime) -> None:
    """Teams with members, what they own and share, limits, restrictions, sessions, decided approvals."""
    teams = Group.objects.bulk_create([Group(name=f"team-{number:02}") for number in range(TEAMS)])
    people = User.objects.bulk_create(
        [User(username=member_name(number), password="!") for number in range(PEOPLE)]
    )
    roles = Group.objects.in_bulk(["viewer", "operator", "publisher"], field_name="name")
    belongs = [(person, teams[number % TEAMS]) for number, person in enumerate(people)]
    belongs += [(person, [*roles.values()][number % 3]) for number, person in enumerate(people)]
    members = User.groups.through
    members._default_manager.bulk_create([members(user=person, group=group) for person, group in belongs])
    for model, every in ((Package, OWNED_EVERY), (Persona, OWNED_EVERY), (Tool, OWN_EVERY)):
        _owned(model, every, teams)
    _rights(size, people, teams)
    _rules(size)
    _approvals(size, now)
    rows_copy(Session, _sessions(size, now), {"events_count": EVENTS_EACH})
    constant: Mapping[str, Value] = {"name": "file:changed", "payload": '{"path":"a.txt"}'}
    rows_copy(SessionEvent, _session_events(size, now), constant)


def _owned(model: type[Model], every: int, teams: list[Group]) -> None:
    rows = model._default_manager
    for number, team in enumerate(teams):
        mine = rows.alias(turn=Mod(F("pk"), every * len(teams))).filter(turn=number * every)
        mine.update(team=team)


def _rights(size: Size, people: list[User], teams: list[Group]) -> None:
    codes = {f"{level}_tool" for level in LEVELS}
    kinds = list(Permission.objects.filter(codename__in=codes).order_by("codename"))
    tools = list(Tool.objects.order_by("pk").values_list("pk", flat=True)[:: max(1, size.tools // RIGHTS)])
    ToolPersonRight.objects.bulk_create(
        ToolPersonRight(content_object_id=tool, user=people[number % PEOPLE], permission=kinds[number % 4])
        for number, tool in enumerate(tools)
    )
    ToolTeamRight.objects.bulk_create(
        ToolTeamRight(content_object_id=tool, group=teams[number % TEAMS], permission=kinds[number % 4])
        for number, tool in enumerate(tools[::10])
    )


def _rules(size: Size) -> None:
    wanted = range(1, min(RULES, size.tools) + 1)
    by: Mapping[str, int] = {"created_by_id": size.person_id}
    window = {"kind": "quota", "measure": "calls", "amount": 1000, "window_s": 86_400}
    Limit.objects.bulk_create(Limit(tool=tool_name(number), **window, **by) for number in wanted)
    Restriction.objects.bulk_create(
        Restriction(tool=tool_name(number), capability="file:delete", reason="Legal hold", **by)
        for number in wanted
    )


def _approvals(size: Size, now: datetime) -> None:
    runs = Run.objects.order_by("-pk").values_list("pk", flat=True)[:DECIDED]
    Approval.objects.bulk_create(
        Approval(
            run_id=run,
            binding=run.bytes * 2,
            why="a grant asks for it",
            expires_at=now,
            decision=Verdict.APPROVED,
            decided_at=now,
            decided_by_id=size.person_id,
        )
        for run in reversed(runs)
    )


def _sessions(size: Size, now: datetime) -> Iterator[dict[str, Value]]:
    for number in range(size.personas * SESSIONS_EACH):
        persona, turn = divmod(number, SESSIONS_EACH)
        at = (now - timedelta(minutes=number)).isoformat()
        yield {
            "id": size.after["session"] + 1 + number,
            "persona_id": size.after["persona"] + 1 + persona,
            "name": f"session {turn}",
            "created_at": at,
            "last_at": at,
        }


def _session_events(size: Size, now: datetime) -> Iterator[dict[str, Value]]:
    for number in range(size.personas * SESSIONS_EACH * EVENTS_EACH):
        session, seq = divmod(number, EVENTS_EACH)
        key = UUID(int=(int(now.timestamp() * 1000) << 80) | (7 << 76) | (2 << 62) | number)
        at = (now - timedelta(minutes=session)).isoformat()
        yield {
            "id": str(key),
            "session_id": size.after["session"] + 1 + session,
            "seq": seq + 1,
            "run_id": str(key),
            "tool": tool_name(1 + number % size.tools),
            "at": at,
        }
