"""A hub in which every page has something to show, and the addresses of its pages."""

import json
import subprocess
import sys
from collections.abc import Callable

import httpx
from playwright.sync_api import BrowserContext

from tests.browser.conftest import ROOT, Hub

# States that a healthy hub does not reach while a test watches, made by its own doors.
RARE = """
import json, time
from django.db import transaction
from execution.memory.events import session_event_add
from execution.engine.places import Place
from execution.memory.services import memory_put
from execution.features.preconditions.resources import resource_add
from security.permissions import actor_of
from execution.models import Run, Status
from execution.engine.states import transition
from execution.entry.schedules.services import schedule_create
from execution.runs.again import submit_on_record
from execution.event_kinds import RUN_TRIED
from registry.config.secret_test import config_test
from execution.engine.requests import CallRequest
from registry.config.services import config_change
from registry.installations.sources.git_credentials import credential_set
from registry.models import Package
from registry.services import assignment_create
from security.models import Persona, Secret, User
from security.patterns import pattern_add
from registry.installations.models import Installation
from registry.installations.approval import installation_approve
from registry.installations.services import installation_start
from registry.installations.source_form import Source
from tests.installations import packages
def until(one, *states):
    ends = time.monotonic() + 60
    while Installation.objects.get(pk=one.pk).status not in states:
        assert time.monotonic() < ends, Installation.objects.get(pk=one.pk).error
        time.sleep(0.1)
wishes = {"tool": "echo", "arguments": {"text": "hi"}, "cron": "0 9 * * 1-5", "time_zone": "Europe/Berlin"}
from security.policy.services import isolation_set, pause_begin, restriction_create
from security.policy.limits import limit_create
from security.policy.tiers import flag_create, flag_require, tier_change, tier_create, tier_set
demo, admin = Persona.objects.get(name="demo"), User.objects.get(username="admin")
from security.policy.catalogue import capabilities_note
from security.policy.models import Capability
capabilities_note(["file:read", "file:delete", "network:api.example.org"])
capability = Capability.objects.get(name="file:delete")
beta, pro = flag_create(by=admin, name="beta", state="tiers"), tier_create(by=admin, name="pro", description="Paid")
tier_change(by=admin, tier=pro, capabilities=["file:read", "network:*"], flags=["beta"])
limit = limit_create(by=admin, persona=demo, tool="echo", kind="quota", measure="calls", amount=1000, window_s=86400)
limit_create(by=admin, tool="hash", kind="rate", measure="calls", amount=50, window_s=1)
flag_require(by=admin, tool="hash", flag=beta)
tier_set(by=admin, persona=demo, tier=pro)
isolation_set(by=admin, persona=demo, isolation="basic")
restriction_create(by=admin, capability="file:delete", reason="Legal hold")
restriction_create(by=admin, persona=demo, tool="hash", reason="Not for this persona")
paused = pause_begin(by=admin, tool="current_time", reason="The clock is wrong")
schedule = schedule_create(by=admin, name="Morning greeting of the night shift", persona=demo, **wishes)
like = Run.objects.filter(tool="echo", status=Status.COMPLETED).values(
    "persona_id", "token_id", "tool_version_id", "tool", "arguments", "arguments_hash", "salt", "timeout_ms",
    "max_output_bytes", "created_at", "due_at",
).first()
waiting, unknown = (Run.objects.create(queue="nobody", status=Status.PENDING, **like) for _ in range(2))
here = Run.objects.filter(pk=unknown.pk)
transition(here, source=Status.PENDING, target=Status.RUNNING, who="claim", attempt=1)
transition(here, source=Status.RUNNING, target=Status.OUTCOME_UNKNOWN, who="reaper")
place = Place(demo.pk, "night shift", "plan")
for scope in ("working", "short-term", "long-term"):
    memory_put(by=actor_of(admin), place=place, scope=scope, key="browser.history", value=[{"url": "https://a.org/" + "x" * 300}])
with transaction.atomic():
    event = session_event_add(place, "file:changed", {"path": "a.txt"}, run_id=waiting.pk, tool="echo")
printer = resource_add(by=admin, name="printer")
from registry.models import Tool
from registry.rules.services import rule_add
rule = rule_add(
    by=admin, tool=Tool.objects.get(name="echo"), expression="size(arguments.text) <= 100000",
    message="At most 100,000 characters at once.", pointer="/text",
)
child = Run.objects.create(queue="nobody", status=Status.PENDING, parent=waiting, root=waiting.pk, depth=1, session="night shift", **like)
answer = {"passed": False, "critical_failed": False, "can_proceed": True, "degraded_mode": True, "results": [
    {"type": "resource", "description": "The printer works.", "critical": False, "passed": False, "reason": "It is down.", "error": None},
    {"type": "custom", "description": "It is day.", "critical": True, "passed": True, "reason": None, "error": None}]}
Run.objects.filter(pk=waiting.pk).update(session="night shift", preconditions=answer, events_count=1)
from django.utils import timezone
from execution.features.artefacts.models import Artefact, Content
from execution.models import RunEvent
now = timezone.now()
said = {"at": now.isoformat(), "level": "warning", "message": "Rows had no date, so they were left out. " * 3,
        "fields": {"path": "/srv/exports/2026/warehouse/figures-of-the-week-of-the-north.csv"}}
RunEvent.objects.create(run=waiting, seq=1, kind="TOOL_CALL_LOGGED", at=now, data={"attempt": 1, "entries": [said]})
file = Content.objects.create(digest="0" * 64, content=b"a")
Artefact.objects.create(run=waiting, name="figures-of-the-week-of-the-warehouse-in-the-north.csv", size=1, content=file)
from security.models import Token
maker = Token.objects.filter(persona=demo).earliest("pk")
Token.objects.create(persona=demo, responsible=admin, name="worker", prefix="thp_workers1", digest=b"worker",
                     expires_at=maker.expires_at, made_with=maker)
ids = {"session": event.session_id}
for name, content in (
    ("done", packages.zipped("1.0.0", name="quotes", tools=[packages.tool("quote")])),
    ("reviewed", packages.zipped("1.1.0", name="quotes", tools=[packages.tool("quote", network={"allow": ["a.org:443"]})])),
    ("broken", packages.zipped("1.2.0", name="quotes", tools=None)),
):
    one = installation_start(by=admin, source=Source("upload", f"{name}.zip"), content=content)
    ids[name] = str(one.pk)
    until(one, "awaiting_review", "failed")
    if name == "done":
        one.refresh_from_db()
        installation_approve(by=admin, installation=one, digest=one.digest)
        until(one, "published")
config = {
    "type": "object",
    "properties": {
        "unit": {"type": "string", "enum": ["C", "F"], "description": "Of temperatures."},
        "digits": {"type": "integer", "default": 2},
        "api_key": {"type": "string", "secret": True, "description": "Of the service."},
        "spare_key": {"type": "string", "secret": True},
    },
    "required": ["api_key"],
}
check = {"url": "https://192.0.2.1/v1/me", "headers": {"Authorization": "Bearer {api_key}"}}
careful = packages.zipped(
    "1.0.0", name="careful", config=config, configCheck=check,
    tools=[packages.tool("careful", requiresApproval=True, network={"allow": ["192.0.2.1:443"]})],
)
one = installation_start(by=admin, source=Source("upload", "careful.zip"), content=careful)
until(one, "awaiting_review")
one.refresh_from_db()
installation_approve(by=admin, installation=one, digest=one.digest)
until(one, "published")
package = Package.objects.get(name="careful")
config_change(by=admin, package=package, changes={"api_key": "hunter2-hunter2"})
config_test(by=admin, package=package).carry_out()
assignment_create(by=admin, persona=demo, package=package)
tried = {"kind": RUN_TRIED, "said": {"persona": "demo"}}
asking = CallRequest(arguments={"name": "Ada"}, context={"session_id": "night shift"})
from django.contrib.auth.models import Group
sam = User.objects.create_user("sam")
sam.groups.add(Group.objects.get(name="operator"))
# One that another person answers for, so that it is the admin's to decide; and one of the admin's own.
asked = submit_on_record(by=User.objects.get(pk=sam.pk), persona=demo, tool="careful", request=asking, **tried)
submit_on_record(by=admin, persona=demo, tool="careful", request=asking, **tried)
pattern = pattern_add(by=admin, name="Keys of the billing service", pattern="bill_[0-9a-f]{8}")
from security.sharing.services import right_give, team_set
from security.sharing.teams import team_create, team_join
team, kim = team_create(by=admin, name="night-shift"), User.objects.create_user("kim")
team_join(by=admin, team=team, person=kim)
team_set(by=admin, thing=package, team=team)
right_give(by=admin, thing=package, to=team, level="manage")
right_give(by=admin, thing=package, to=kim, level="approve")
ids |= {"team": team.pk, "kim": kim.pk, "rule": rule["id"], "printer": printer.pk}
ids |= {"token": Token.objects.filter(persona=demo).earliest("pk").pk}
credential_set(by=admin, server="https://code.example.org", user="hub", password="hunter2-hunter2")
ids |= {
    "asked": str(asked.pk),
    "approval": str(asked.approval.pk),
    "pattern": pattern.pk,
    "credential": Secret.objects.get(scope="git").pk,
}
from registry.releases.overlay import tool_overlay_edit
from security.loosening import SecondPersonNeeded
from security.policy.models import ProposedChange
from security.services import grant_create
echo = Tool.objects.get(name="echo")
tool_overlay_edit(by=admin, tool=echo, overlay={"sanitise": True, "contentChecks": "block"})
lea = User.objects.create_superuser("lea")
try:
    tool_overlay_edit(by=lea, tool=echo, overlay={"contentChecks": "record"})
except SecondPersonNeeded as needed:
    needed.keep()
folder = {"kind": "path", "argument": "/path", "values": ["/srv/reports"]}
ids |= {"proposal": ProposedChange.objects.get().pk}
ids |= {"grant": grant_create(by=admin, persona=demo, capability="file:write", reason="Weekly report", conditions=[folder]).pk}
from registry.collections.services import collection_create
made = collection_create(by=admin, name="research", description="What researchers use", tools=list(Package.objects.get(name="toolhub-data").tools.all()))
assignment_create(by=admin, persona=demo, collection=made)
collection_create(by=admin, name="empty")
print(json.dumps({**ids, "schedule": schedule.pk, "paused": paused.pk, "limit": limit.pk, "capability": capability.pk, "waiting": str(waiting.pk), "unknown": str(unknown.pk)}))
"""
FIXED = (
    "/",
    "/tools/",
    "/tools/?q=nothing+has+this+name",
    "/tools/?package=toolhub-data",
    "/tools/calculate/",
    "/tools/current_time/",
    "/tools/calculate/try/",
    "/tools/calculate/rules/",
    "/collections/",
    "/collections/?q=nothing+has+this+name",
    "/collections/new/",
    "/collections/research/",
    "/collections/research/delete/",
    "/collections/research/tools/echo/remove/",
    "/collections/empty/",
    "/sharing/collection/research/",
    "/tools/calculate/edit/",
    "/tools/echo/rules/",
    "/personas/",
    "/personas/?q=nobody+has+this+name",
    "/personas/new/",
    "/personas/demo/",
    "/personas/demo/?after=calculate",
    "/personas/demo/switch/",
    "/personas/demo/signing/",
    "/proposed-changes/",
    "/policy/",
    "/policy/?q=nothing+has+this+name",
    "/policy/new/",
    "/policy/pause/?persona=demo",
    "/policy/capabilities/",
    "/policy/capabilities/?q=nothing+has+this+name",
    "/policy/matrix/",
    "/policy/matrix/?capability=nothing+has+this+name",
    "/policy/limits/",
    "/policy/limits/?q=nothing+has+this+name",
    "/policy/limits/new/?persona=demo",
    "/policy/tiers/",
    "/policy/tiers/new/",
    "/policy/tiers/pro/",
    "/policy/tiers/pro/delete/",
    "/policy/flags/",
    "/policy/flags/?q=nothing+has+this+name",
    "/policy/flags/new/",
    "/policy/flags/beta/",
    "/policy/flags/beta/delete/",
    "/simulator/",
    "/simulator/?persona=demo&tool=echo",
    "/tools/echo/callers/",
    "/tools/echo/callers/?q=nobody+has+this+name",
    "/packages/",
    "/packages/?q=nothing+has+this+name",
    "/packages/toolhub-data/",
    "/install/",
    "/installations/",
    "/installations/?status=failed",
    "/runs/",
    "/runs/?status=failed&since=24",
    "/runs/?q=nothing",
    "/runs/?sort=made",
    "/schedules/",
    "/schedules/?q=nothing",
    "/schedules/new/",
    "/audit/",
    "/audit/?q=nothing+has+this+name",
    "/audit/?subject_kind=persona&subject_id=1",
    "/people/",
    "/people/?q=nobody+has+this+name",
    "/people/invite/",
    "/people/admin/",
    "/people/admin/link/",
    "/people/admin/mail/",
    "/people/kim/",
    "/teams/",
    "/teams/?q=nothing+has+this+name",
    "/teams/new/",
    "/sharing/package/careful/",
    "/sharing/tool/careful/",
    "/sharing/persona/demo/",
    "/people/admin/leave/",
    "/account/",
    "/account/sessions/end/",
    "/account/again/?next=/account/factor/add/",
    "/approvals/",
    "/approvals/four-eyes/",
    "/packages/careful/",
    "/packages/careful/config/",
    "/packages/careful/config/test/",
    "/settings/filters/",
    "/settings/secrets/",
    "/settings/",
    "/settings/sandbox/",
    "/settings/duties/",
    "/settings/sign-in/",
    "/settings/resources/",
    "/sessions/",
    "/sessions/?q=nothing",
    "/account/password/",
    "/account/theme/",
    "/sign-out/",
    "/api/docs",
    "/api/docs/errors",
    "/api/docs/tool_execute",
    "/api/docs/run_events",
    "/search/",
    "/search/?q=e",
    "/overview/charts/",
    "/overview/charts/?hours=1",
    "/style/",
    "/nothing/",
)


def rare_rows(hub: Hub) -> dict[str, str]:
    """The ids of a schedule, of a run that waits for good, and of one whose outcome is unknown."""
    said = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", RARE],
        cwd=ROOT,
        env=hub.env,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, str] = json.loads(said.stdout)
    return found


def package_pages(rare: dict[str, str]) -> list[str]:
    """The pages of an installed package, and of installations: waiting for review, failed, done."""
    package = "/packages/quotes"
    acts = [f"{package}/1.0.0/{act}/" for act in ("activate", "deprecate", "yank", "quarantine", "restore")]
    installations = [f"/installations/{rare[name]}/" for name in ("reviewed", "broken", "done")]
    asked = [f"/installations/{rare['reviewed']}/cancel/", f"{package}/uninstall/"]
    return [f"{package}/", f"{package}/compare/", *acts, *installations, *asked]


def every_page(hub: Hub, execute: Callable[..., httpx.Response], context: BrowserContext) -> list[str]:
    """The addresses of all pages, with runs of each kind on them."""
    good = execute("echo", {"text": "Grüße " * 40}).json()["metadata"]["run_id"]
    bad = execute("json_parse", {"text": "{"}).json()["metadata"]["run_id"]
    rare = rare_rows(hub)
    page = context.new_page()
    page.goto(f"/runs/{good}/replay/")
    page.get_by_role("button", name="Replay it").click()
    page.wait_for_url(lambda address: "/replay/" not in address)
    replayed = page.url.removeprefix(hub.url)
    page.goto("/audit/?kind=run.outcome")
    event = str(page.locator(".rows td a").first.get_attribute("href"))
    page.close()
    runs = [f"/runs/{run}/" for run in (good, bad, rare["waiting"], rare["unknown"])]
    asked = [
        f"/runs/{good}/retry/",
        f"/runs/{rare['waiting']}/cancel/",
        f"/runs/cancel/?pick={rare['waiting']}",
        f"/runs/{rare['unknown']}/resolve/",
    ]
    schedule = f"/schedules/{rare['schedule']}"
    mine = [
        f"/approvals/{rare['approval']}/",
        f"/runs/{rare['asked']}/",
        f"/settings/filters/{rare['pattern']}/remove/",
        f"/settings/secrets/{rare['credential']}/test/",
        f"/settings/secrets/{rare['credential']}/remove/",
    ]
    mine += [f"/tools/echo/rules/{rare['rule']}/remove/"]
    mine += [f"/settings/resources/{rare['printer']}/{act}/" for act in ("switch", "remove")]
    mine += [f"/personas/demo/tokens/{rare['token']}/{act}/" for act in ("rotate", "revoke")]
    mine += [f"/account/tokens/{rare['token']}/revoke/"]
    mine += [f"/proposed-changes/{rare['proposal']}/", f"/proposed-changes/{rare['proposal']}/refuse/"]
    mine += [f"/personas/demo/grants/{rare['grant']}/"]
    mine += [f"/teams/{rare['team']}/", f"/teams/{rare['team']}/delete/"]
    mine += [f"/teams/{rare['team']}/members/{rare['kim']}/"]
    mine += [f"/sharing/package/careful/approve/person/{rare['kim']}/"]
    mine += [f"/sessions/{rare['session']}/", f"/sessions/{rare['session']}/end/"]
    more = [
        *mine,
        *package_pages(rare),
        f"/policy/{rare['paused']}/lift/",
        f"/policy/limits/{rare['limit']}/edit/",
        f"/policy/limits/{rare['limit']}/delete/",
        f"/policy/capabilities/{rare['capability']}/",
    ]
    return [*FIXED, *more, *runs, replayed, *asked, f"{schedule}/switch/", f"{schedule}/delete/", event]
