"""`make bench-pages`: time, queries and size of every page, on a database that `make seed-large` filled.

A page keeps its budget when it takes less than 150 ms at the 95th percentile with two clients, at most 15
queries and at most 100 KB of HTML. Queries are counted in this process; times are taken from a web process.
"""

import http.client
import statistics
import threading
import time
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Manager, QuerySet
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings

from audit.models import Event
from execution.memory.models import Session
from execution.models import Approval, Run
from registry.collections.models import Collection
from registry.models import Package, Tool
from security.models import Persona
from security.policy.models import Capability, Limit, Restriction
from security.sharing.teams import teams

BUDGET_MS, BUDGET_QUERIES, BUDGET_BYTES = 150.0, 15, 100_000
CLIENTS = 2
ADMIN, MEMBER = "admin", "member"
SESSION = "sessionid"


@dataclass(frozen=True)
class Page:
    """What a page cost one reader."""

    path: str
    reader: str
    status: int
    p50_ms: float
    p95_ms: float
    queries: int
    size: int

    @property
    def beyond(self) -> list[str]:
        """Which budgets it does not keep."""
        found = []
        # What a member's role or team keeps from them is not there; that has to be said quickly, too.
        if self.status != 200 and not (self.reader == MEMBER and self.status == 404):
            found.append(f"status {self.status}")
        if self.p95_ms > BUDGET_MS:
            found.append("time")
        if self.queries > BUDGET_QUERIES:
            found.append("queries")
        if self.size > BUDGET_BYTES:
            found.append("size")
        return found


def addresses() -> list[str]:
    """Every list, its last pages and its filters, and the details of what is in the middle of the data."""

    def middle(model: Any) -> Any:
        rows = (model if isinstance(model, QuerySet | Manager) else model.objects).order_by("pk")
        return rows[rows.count() // 2]

    tool, persona, package, run, event = map(middle, (Tool, Persona, Package, Run, Event))
    team, session, limit = map(middle, (teams(), Session.objects, Limit.objects))
    collection, capability, approval = map(middle, (Collection, Capability, Approval))
    large = Collection.objects.earliest("pk")
    restriction, unknown = (
        middle(Restriction.objects),
        Run.objects.filter(status="outcome_unknown").latest("pk"),
    )
    busiest = Run.objects.order_by("-pk").values_list("tool", flat=True)[0]
    ordered = Run.objects.order_by("pk")
    return [
        "/",
        "/overview/charts/?hours=1",
        "/overview/charts/?hours=24",
        "/overview/charts/?hours=168",
        "/search/?q=weather",
        "/search/?q=zzzz",
        f"/search/?q={str(run.pk)[:13]}",
        "/tools/",
        "/tools/?sort=-name",
        "/tools/?q=invoice",
        "/tools/?q=zzzz",
        "/tools/?category=network",
        f"/tools/?after={tool.name}",
        f"/tools/?package={package.name}",
        f"/tools/{tool.name}/",
        f"/tools/{busiest}/",
        f"/tools/{tool.name}/try/",
        f"/tools/{tool.name}/edit/",
        "/packages/",
        "/packages/?q=kit-00",
        f"/packages/{package.name}/",
        "/collections/",
        "/collections/?q=weather",
        "/collections/new/",
        f"/collections/{collection.name}/",
        f"/collections/{collection.name}/delete/",
        f"/collections/{collection.name}/addable/?tools=invoice",
        f"/collections/{large.name}/",
        f"/sharing/collection/{collection.name}/",
        "/personas/",
        "/personas/?q=team-w",
        f"/personas/{persona.name}/",
        "/install/",
        "/installations/",
        "/runs/",
        "/runs/?sort=made",
        f"/runs/?after={ordered[100].pk}",
        "/runs/?status=failed",
        "/runs/?status=unsuccessful&since=24",
        "/runs/?status=open",
        "/runs/?status=outcome_unknown",
        "/runs/?since=1",
        f"/runs/?tool={tool.name}",
        f"/runs/?persona={persona.name}",
        f"/runs/?q={tool.name[5:12]}",
        "/runs/?q=zzzz",
        f"/runs/?q={run.pk}",
        f"/runs/{run.pk}/",
        "/schedules/",
        "/audit/",
        f"/audit/?after={event.pk}",
        "/audit/?since=24",
        "/audit/?kind=run.outcome",
        "/audit/?kind=run.refused",
        "/audit/?family=access",
        "/audit/?family=calls",
        "/audit/?actor_kind=persona",
        f"/audit/?q={tool.name[5:12]}",
        "/audit/?q=zzzz",
        f"/audit/?subject_kind=tool&subject_id={tool.name}",
        f"/audit/{event.pk}/",
        "/approvals/",
        f"/approvals/{approval.pk}/",
        "/policy/",
        f"/policy/?q={tool.name[5:12]}",
        "/policy/new/",
        f"/policy/{restriction.pk}/lift/",
        "/policy/limits/",
        "/policy/limits/new/",
        f"/policy/limits/{limit.pk}/delete/",
        "/policy/tiers/",
        "/policy/flags/",
        "/policy/capabilities/",
        f"/policy/capabilities/{capability.pk}/",
        "/policy/matrix/",
        "/policy/pause/",
        "/policy/tiers/new/",
        "/sessions/",
        "/sessions/?q=session+7",
        f"/sessions/{session.pk}/",
        "/simulator/",
        f"/simulator/?persona={persona.name}&tool={tool.name}",
        f"/simulator/options/tool/?tool={tool.name[:12]}",
        f"/tools/{tool.name}/rules/",
        f"/tools/{tool.name}/callers/",
        f"/tools/{tool.name}/try/personas/?persona=team",
        f"/packages/{package.name}/uninstall/",
        f"/personas/{persona.name}/assignable/?q=invoice",
        "/personas/new/",
        "/schedules/new/",
        f"/runs/{unknown.pk}/resolve/",
        f"/runs/{run.pk}/retry/",
        "/people/",
        "/people/?q=member-01",
        "/people/member-0040/",
        "/people/invite/",
        "/teams/",
        "/teams/?q=team-1",
        f"/teams/{team.pk}/",
        f"/sharing/tool/{tool.name}/",
        f"/sharing/package/{package.name}/",
        f"/sharing/persona/{persona.name}/",
        "/account/",
        "/settings/",
        "/settings/filters/",
        "/settings/resources/",
        "/settings/secrets/",
        "/settings/sign-in/",
        "/settings/sandbox/",
        "/api/docs",
        "/api/docs/tool_execute",
        "/api/docs/errors",
    ]


def queries_of(client: Client, path: str) -> int:
    """How many queries the page makes."""
    # The bench's own settings have another address book.
    with override_settings(ROOT_URLCONF="toolhub.urls"), CaptureQueriesContext(connection) as captured:
        client.get(path)
    return len(captured)


def ask(server: http.client.HTTPConnection, path: str, cookie: str) -> tuple[int, int, float]:
    """Status, size and ms of one request."""
    begun = time.perf_counter()
    server.request("GET", path, headers={"Cookie": f"{SESSION}={cookie}"})
    answer = server.getresponse()
    body = answer.read()
    return answer.status, len(body), (time.perf_counter() - begun) * 1000


def timed(port: int, path: str, cookie: str, rounds: int) -> tuple[int, int, list[float]]:
    """Status and size of the page, and the times of all requests of two clients at once."""
    times: list[float] = []
    first: list[tuple[int, int]] = []

    def client() -> None:
        server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for _ in range(rounds):
            status, size, took = ask(server, path, cookie)
            times.append(took)
            first.append((status, size))
        server.close()

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return *first[-1], times


def measure(reader: str, client: Client, port: int, path: str, rounds: int) -> Page:
    """The figures of one page: the signed-in client's, asked of the server at the port."""
    cookie = client.cookies[SESSION].value
    timed(port, path, cookie, 2)
    status, size, times = timed(port, path, cookie, rounds)
    cuts = statistics.quantiles(times, n=20)
    return Page(path, reader, status, cuts[9], cuts[18], queries_of(client, path), size)


def line(page: Page) -> str:
    """A page's figures on one line."""
    return (
        f"{page.p50_ms:7.1f} ms p50 {page.p95_ms:7.1f} ms p95 {page.queries:3} queries "
        f"{page.size / 1000:6.1f} KB  {page.reader:6} {page.path}  {', '.join(page.beyond)}"
    )
