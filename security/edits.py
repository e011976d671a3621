"""The editable things of security: what a version of each stands for."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import Group
from django.db.models import Model

from core.edits import Editable, Edited
from security.accounts.belongings import belongings_of
from security.accounts.roles import NAMES
from security.models import Grant, OutputPattern, Persona, Secret, Switch, Token, User
from security.policy.models import Capability, Flag, Limit, Restriction, Standing, Tier
from security.policy.selectors import standing_of
from security.sharing.kinds import kind_of
from security.sharing.selectors import given_on
from security.sharing.teams import team_holds
from security.two_person_rule import NAME as FOUR_EYES


def _persona(row: Persona) -> Mapping[str, Any]:
    standing = standing_of(row)
    return {
        "title": row.title,
        "description": row.description,
        "active": row.is_active,
        "tier": standing.tier or None,
        "isolation": standing.isolation,
    }


def _roles(row: User) -> list[str]:
    return sorted(group.name for group in row.groups.all() if group.name in NAMES)


def _restriction(row: Restriction) -> Mapping[str, Any]:
    names = ("persona_id", "tool", "capability", "is_pause", "reason", "expires_at")
    return {name: getattr(row, name) for name in names}


def _limit(row: Limit) -> Mapping[str, Any]:
    names = ("persona_id", "tier_id", "tool", "kind", "measure", "amount", "window_s")
    return {name: getattr(row, name) for name in names}


def _flag(row: Flag) -> Mapping[str, Any]:
    tools = sorted(row.tools.values_list("tool", flat=True))
    return {"description": row.description, "state": row.state, "tools": tools}


def _grant(row: Grant) -> Mapping[str, Any]:
    names = ("capability", "reason", "conditions", "expires_at", "session")
    return {name: getattr(row, name) for name in names}


def _token(row: Token) -> Mapping[str, Any]:
    names = ("name", "expires_at", "revoked_at", "responsible_id")
    return {name: getattr(row, name) for name in names}


def _standing_lock(row: Persona) -> object:
    return Standing.objects.select_for_update(of=("self",)).filter(persona=row).first()


PERSONA: Editable[Persona] = Editable(
    "persona",
    Persona.objects.select_related("standing__tier"),
    _persona,
    lambda row: f"the persona {row.name}",
    more=_standing_lock,
)
PERSON: Editable[User] = Editable(
    "person",
    User.objects.prefetch_related("groups"),
    lambda row: {"roles": _roles(row), "active": row.is_active},
    lambda row: f"the person {row.get_username()}",
)
LEAVING: Editable[User] = Editable(
    "leaving person",
    User.objects.prefetch_related("groups"),
    lambda row: {"roles": _roles(row), "active": row.is_active, "answers for": belongings_of(row, row)},
    lambda row: f"what {row.get_username()} answers for",
)
TEAM: Editable[Group] = Editable(
    "team",
    Group.objects.all(),
    lambda row: (
        {"members": sorted(User.objects.filter(groups=row).values_list("username", flat=True))}
        | {"owns": team_holds(row)}
    ),
    lambda row: f"the team {row.name}",
)
RESTRICTION: Editable[Restriction] = Editable(
    "restriction", Restriction.objects.all(), _restriction, lambda row: f"the restriction {row.pk}"
)
LIMIT: Editable[Limit] = Editable("limit", Limit.objects.all(), _limit, lambda row: f"the limit {row.pk}")
TIER: Editable[Tier] = Editable(
    "tier",
    Tier.objects.all(),
    lambda row: {"description": row.description, "capabilities": row.capabilities, "flags": row.flags},
    lambda row: f"the tier {row.name}",
)
FLAG: Editable[Flag] = Editable("flag", Flag.objects.all(), _flag, lambda row: f"the flag {row.name}")
CAPABILITY: Editable[Capability] = Editable(
    "capability",
    Capability.objects.all(),
    lambda row: {"description": row.description, "risk": row.risk},
    lambda row: f"the capability {row.name}",
)
GRANT: Editable[Grant] = Editable(
    "grant", Grant.objects.all(), _grant, lambda row: f"the grant of {row.capability}"
)
TOKEN: Editable[Token] = Editable(
    "token", Token.objects.all(), _token, lambda row: f"the token {row.prefix}…"
)
OUTPUT_PATTERN: Editable[OutputPattern] = Editable(
    "output pattern",
    OutputPattern.objects.all(),
    lambda row: {"name": row.name, "pattern": row.pattern},
    lambda row: f"the pattern {row.name}",
)
SECRET: Editable[Secret] = Editable(
    "secret",
    Secret.objects.defer("sealed"),
    lambda row: {"set_by": row.set_by, "set_at": row.set_at},
    lambda row: f"the secret {row.name}",
)
SIGNING: Editable[Persona] = Editable(
    "signing secret",
    Persona.objects.all(),
    lambda row: {"newest": row.signing_secrets.values_list("pk", flat=True).first()},
    lambda row: f"the signing secret of {row.name}",
)
SWITCH: Editable[Switch] = Editable(
    "two-person rule",
    Switch.objects.all(),
    lambda row: {"on": row.on},
    lambda _: "the rule of four eyes",
    key=lambda row: row.name,
)


def four_eyes_edited(*, make: bool) -> Edited[Switch]:
    """The switch of the rule of four eyes. Its row may not be there yet; `make` makes it."""
    row = Switch.objects.filter(name=FOUR_EYES).first()
    if row is None and make:
        row, _ = Switch.objects.get_or_create(name=FOUR_EYES)
    return SWITCH.of(row or Switch(name=FOUR_EYES))


def sharing_edited(thing: Model) -> Edited[Model]:
    """Which team owns an object, and who was given a right on it."""
    kind = kind_of(thing)

    def state(row: Any) -> Mapping[str, Any]:
        rights = [[one.holder, one.pk, one.level] for one in given_on(row)]
        return {"team": row.team.name if row.team else "", "rights": rights}

    shared: Editable[Model] = Editable(
        f"sharing of {kind.name}",
        kind.rows.select_related("team"),
        state,
        lambda row: f"the ownership of {row}",
    )
    return shared.of(thing)
