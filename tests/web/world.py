"""A hub in which everything belongs to somebody, the people and agents who ask for it, and all its routes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.db.models import Q
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from audit.models import Event
from core.actors import SYSTEM
from core.duties.models import FailedRow
from execution.engine.places import Place
from execution.entry.schedules.services import schedule_create
from execution.features.artefacts.models import Artefact, Content
from execution.features.preconditions.resources import resource_add
from execution.memory.models import Session, Webhook
from execution.memory.services import memory_put
from execution.models import Approval, Run
from registry.collections.models import Collection
from registry.collections.services import collection_create
from registry.installations.services import installation_start
from registry.installations.source_form import Source
from registry.installations.sources.git_credentials import SCOPE as GIT
from registry.models import Assignment, Package, Release, Tool
from registry.rules.services import rule_add
from security.loosening import SecondPersonNeeded
from security.models import Persona, Secret, User
from security.patterns import pattern_add
from security.policy.limits import limit_create
from security.policy.models import Capability, ProposedChange
from security.policy.services import restriction_create, restriction_lift
from security.policy.tiers import flag_create, tier_create
from security.services import grant_create, persona_create, token_create
from tests.installations import packages

METHODS = ("get", "post", "put", "patch", "delete")
ROLES = ("anonymous", "viewer", "operator", "admin", "agent", "owner", "other-team")
"""`agent` is another persona's token, `owner` that of the persona that the objects belong to.

`other-team` holds each permission of an admin but one: the objects belong to a team, which they are not in. At
the API it is their agent, which manages the hub.
"""
OPERATOR = (
    "execution.add_run",
    "execution.change_run",
    "execution.resolve_run",
    "execution.add_schedule",
    "execution.change_schedule",
    "execution.delete_schedule",
    "policy.add_restriction",
)
OWN_SESSION = "?session_id=s1&loop_id=l1"
_MCP_LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
BODIES: dict[str, dict[str, Any]] = {
    "api_runs_cancel": {"persona": "researcher", "status": "open"},
    "mcp": _MCP_LIST,
    "mcp_collection": _MCP_LIST,
    "api_execute": {"operation": "discover", "parameters": {}},
    "api_decisions_simulate": {"persona": "researcher", "tool": "fx_context"},
    "api_installations": {"source": {"type": "url", "location": "https://example.org/a.zip"}},
    "api_installation_approve": {"digest": "0" * 64},
    "api_memory_item": {"value": 2},
    "api_webhooks": {"url": "https://example.org/", "events": ["run.finished"]},
    "api_restrictions": {"capability": "file:write", "reason": "no"},
    "api_pauses": {"persona": "researcher", "reason": "no"},
    "api_limits": {"kind": "quota", "measure": "calls", "amount": 1, "window_s": 60, "persona": "researcher"},
    "api_tiers": {"name": "silver"},
    "api_flags": {"name": "alpha"},
    "api_release_deprecate": {"reason": "old"},
    "api_release_yank": {"reason": "bad"},
    "api_release_quarantine": {"reason": "odd"},
    # Pages that whoever may look sees with their form: what is sent is refused with 422.
    "secrets": {"server": "https://code.example.org", "user": "u", "password": "p"},
    "tier": {"description": "other"},
    "flag": {"state": "on"},
    "output_patterns": {"name": "Cards", "pattern": "card-[0-9]+"},
    "resources": {"name": "fx.more"},
    "approval_approve": {"hours": "0"},
    "approval_deny": {"reason": "no"},
    "approval_delegate": {"to": "operates"},
}


@dataclass(frozen=True)
class Route:
    """An address pattern with its name, and the methods that it has."""

    name: str
    pattern: str
    parameters: tuple[str, ...]
    methods: tuple[str, ...]
    # The class that answers, where it is one.
    view: Any = None


def routes() -> Iterator[Route]:
    """Every route of the URLconf."""
    yield from _routes(get_resolver(), "", ())


def _routes(at: URLResolver, prefix: str, above: tuple[str, ...]) -> Iterator[Route]:
    for one in at.url_patterns:
        pattern = prefix + str(one.pattern)
        parameters = (*above, *one.pattern.regex.groupindex)
        if isinstance(one, URLResolver):
            yield from _routes(one, pattern, parameters)
            continue
        assert isinstance(one, URLPattern)
        view = getattr(one.callback, "view_class", None) or getattr(one.callback, "cls", None)
        methods = tuple(method for method in METHODS if view is None or hasattr(view, method))
        yield Route(one.name or pattern, pattern, parameters, methods if view else ("get", "post"), view)


@dataclass
class World:
    """Where each route's parameters lead, and who asks."""

    people: dict[str, User] = field(default_factory=dict)
    # With which each person has signed in.
    cookies: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    team: Group | None = None

    def keep(self, role: str) -> None:
        """For a person of another team all objects are the first team's; for others nobody's."""
        if role == "other-team":
            Package.objects.update(team=self.team)
            Collection.objects.update(team=self.team)
            Persona.objects.exclude(name="outsider").update(team=self.team)

    def address(self, route: Route, values: Mapping[str, Any] | None = None) -> str:
        """The route's address of an object that is there, or of one with these values for its parameters."""
        path = route.pattern
        if "(?P<" in path:
            return "/api/v1/nowhere"
        for name in route.parameters:
            value = str((values or {}).get(name) or self.value(route, name))
            path = path.replace(f"<{name}>", value)
            for form in (
                f"<str:{name}>",
                f"<slug:{name}>",
                f"<int:{name}>",
                f"<uuid:{name}>",
                f"<path:{name}>",
            ):
                path = path.replace(form, value)
        return f"/{path}" + (OWN_SESSION if route.pattern.startswith("api/v1/memory") else "")

    def client(self, role: str) -> Client:
        """A browser in which the person has signed in, or one of nobody."""
        client = Client(raise_request_exception=False)
        if role in self.cookies:
            client.cookies[settings.SESSION_COOKIE_NAME] = self.cookies[role]
        return client

    def body(self, route: Route) -> dict[str, Any]:
        """What fits the route, so that it is not refused for its form; most take an empty one."""
        return BODIES.get(route.name, {})

    def value(self, route: Route, parameter: str) -> Any:
        """What the parameter is of an object that is there: by route and parameter, by the longest beginning of the route that is known, or by parameter."""
        keys = [key for key in self.values if route.pattern.startswith(key)]
        for key in sorted(keys, key=len, reverse=True):
            if parameter in self.values[key]:
                return self.values[key][parameter]
        assert parameter in self.values[""], f"Say in world.py where {parameter} of {route.pattern} leads."
        return self.values[""][parameter]


def person(name: str, *permissions: str, views: bool = False) -> User:
    """A person who holds just these permissions, and with `views` each that lets look."""
    made = User.objects.create_user(name, email=f"{name}@example.org")
    wanted = Q(codename__startswith="view_") if views else Q(pk=None)
    for permission in permissions:
        app, _, codename = permission.partition(".")
        wanted |= Q(content_type__app_label=app, codename=codename)
    made.user_permissions.set(Permission.objects.filter(wanted))
    return made


def _everything_but_reach() -> User:
    made = person("outside")
    made.user_permissions.set(Permission.objects.exclude(codename="reach_everything"))
    return made


def world_make(admin: User, owner: Persona, owner_token: str, asked: Approval) -> World:
    """Makes one of each kind of object, of the owner's, and those who ask."""
    world = World()
    stranger = persona_create(by=admin, name="stranger")
    nobody = person("nobody")
    world.tokens["owner"] = owner_token
    world.tokens["agent"] = token_create(by=admin, persona=stranger, name="strange")[1]
    stranger.tokens.update(responsible=nobody)
    world.people = {
        "viewer": person("looks", views=True),
        "operator": person("operates", *OPERATOR, views=True),
        "admin": admin,
        "other-team": _everything_but_reach(),
    }
    outside, world.team = world.people["other-team"], Group.objects.create(name="inside")
    outside.groups.add(Group.objects.create(name="outside"))
    manages = persona_create(by=admin, name="outsider")
    for capability in ("toolhub:packages", "toolhub:personas", "toolhub:approvals"):
        grant_create(by=admin, persona=manages, capability=capability, reason="manages the hub")
    world.tokens["other-team"] = token_create(by=outside, persona=manages, name="outside")[1]
    world.values = _objects(admin, owner, asked)
    for role, user in world.people.items():
        browser = Client()
        browser.force_login(user)
        world.cookies[role] = browser.cookies[settings.SESSION_COOKIE_NAME].value
    return world


def _objects(admin: User, owner: Persona, asked: Approval) -> dict[str, Any]:
    run = Run.objects.filter(status="completed").latest("pk")
    content = Content.objects.create(pk="c" * 64, content=b"private")
    Artefact.objects.create(run_id=run.pk, name="report.txt", size=7, content=content)
    limit = limit_create(by=admin, kind="quota", measure="calls", amount=999, window_s=3600, persona=owner)
    release = Release.objects.get(package__name="fixture")
    token, _ = token_create(by=admin, persona=owner, name="spare")
    grant = grant_create(by=admin, persona=owner, capability="file:read", reason="reads")
    rule = restriction_create(by=admin, persona=owner, capability="file:delete", reason="never")
    tier_create(by=admin, name="gold")
    flag_create(by=admin, name="beta")
    plan = {"tool": "fx_context", "arguments": {}, "cron": "0 9 * * *", "time_zone": "UTC"}
    schedule = schedule_create(by=admin, name="Daily", persona=owner, **plan)  # type: ignore[arg-type]
    proposes = person("proposes", "policy.delete_restriction")
    try:
        restriction_lift(by=proposes, restriction=rule)
    except SecondPersonNeeded as needed:
        needed.keep()
    zipped = packages.zipped("1.0.0", name="quotes", tools=[packages.tool("quote")])
    installation = installation_start(by=admin, source=Source("upload", "quotes.zip"), content=zipped)
    webhook = Webhook.objects.create(persona=owner, url="https://example.org/", events=["*"])
    secret = Secret.objects.create(scope=GIT, name="https://git.example.org", sealed="x", set_by="admin")
    mine = Assignment.objects.filter(persona=owner).latest("pk")
    pattern = pattern_add(by=admin, name="Keys", pattern="key-[0-9]+")
    tool = Tool.objects.get(name="fx_context")
    collection_create(by=admin, name="toolbox", tools=[tool])
    rule_of_tool = rule_add(by=admin, tool=tool, expression="true", message="Never.")["id"]
    place = Place(owner.pk, "s1", "l1")
    memory_put(by=SYSTEM, place=place, scope="working", key="k", value=1)
    return {
        "api/v1/capabilities/catalogue/": {"pk": Capability.objects.earliest("pk").pk},
        "api/v1/limits/": {"pk": limit.pk},
        "policy/capabilities/": {"row": Capability.objects.earliest("pk").pk},
        "policy/limits/": {"row": limit.pk},
        "sessions/": {"pk": Session.objects.get(persona=owner).pk},
        "people/": {"name": "nobody"},
        "teams/": {"row": Group.objects.create(name="own").pk, "person": admin.pk},
        "sharing/": {
            "kind": "persona",
            "name": owner.name,
            "level": "view",
            "holder": "person",
            "pk": admin.pk,
        },
        "invitation/": {"uidb64": "x", "token": "x"},
        "account/tokens/": {"row": token.pk},
        "account/sessions/": {"row": 0},
        "": {
            "run_id": run.pk,
            "session_id": "s1",
            "loop_id": "l1",
            "scope": "working",
            "key": "k",
            "rest": "x",
        },
        "api/v1/tools/": {"name": "fx_context", "pk": rule_of_tool},
        "api/v1/collections/": {"name": "toolbox", "tool": "fx_context"},
        "api/v1/packages/": {"name": "keeper"},
        "api/v1/tiers/": {"name": "gold"},
        "api/v1/flags/": {"name": "beta"},
        "api/v1/personas/": {"name": owner.name},
        "api/v1/personas/<str:name>/assignments/": {"pk": mine.pk},
        "api/v1/personas/<str:name>/grants/": {"pk": grant.pk},
        "api/v1/personas/<str:name>/tokens/": {"pk": token.pk},
        "api/v1/output-patterns/": {"pk": pattern.pk},
        "api/v1/installations/": {"pk": installation.pk},
        "api/v1/webhooks/": {"pk": webhook.pk},
        "api/v1/restrictions/": {"pk": rule.pk},
        "api/v1/releases/": {"pk": release.pk},
        "api/v1/approvals/": {"pk": asked.pk},
        "api/v1/runs/": {"name": "report.txt"},
        "api/docs/": {"name": "flags_list"},
        "tools/": {"name": "fx_context", "row": rule_of_tool},
        "collections/": {"name": "toolbox", "tool": "fx_context"},
        "mcp/": {"collection": "toolbox"},
        "installations/": {"pk": installation.pk},
        "packages/": {"name": "keeper", "version": "1.0.0"},
        "settings/secrets/": {"row": secret.pk},
        "settings/duties/": {"failed": FailedRow.objects.create(duty="keys", key="1", error="e").pk},
        "settings/resources/": {"row": resource_add(by=admin, name="fx.res").pk},
        "settings/filters/": {"row": pattern.pk},
        "personas/": {"name": owner.name},
        "personas/<slug:name>/assignments/": {"row": mine.pk},
        "personas/<slug:name>/grants/": {"row": grant.pk},
        "personas/<slug:name>/tokens/": {"row": token.pk},
        "policy/": {"row": rule.pk},
        "proposed-changes/": {"pk": ProposedChange.objects.get().pk},
        "policy/tiers/": {"name": "gold"},
        "policy/flags/": {"name": "beta"},
        "approvals/": {"pk": asked.pk},
        "runs/": {"name": "report.txt"},
        "simulator/": {"field": "tool"},
        "schedules/": {"row": schedule.pk, "field": "tool"},
        "audit/": {"event_id": Event.objects.latest("pk").pk},
    }
