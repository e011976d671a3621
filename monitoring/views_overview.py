"""The first page: what runs, what fails, what waits for a person."""

import heapq
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from core.counts import counts_read
from core.pages import ConsoleView
from execution.engine.selectors import STATUS_GROUPS, runs_open, runs_page
from execution.models import Run, Status
from execution.rollups.count import Figures, Piece
from execution.rollups.read import figures_read
from monitoring.attention import notices
from registry.curl import curl_line
from registry.models import Assignment, Tool
from security.models import Persona, Token, User
from security.people import person_of
from security.sharing.reach import within

LATEST = 10
BUSIEST = 8


@dataclass(frozen=True)
class Figure:
    """A number on the overview and the list that it counts. `tone` colours it when it is not 0."""

    title: str
    count: int
    query: str
    icon: str
    tone: str = ""


@dataclass(frozen=True)
class Step:
    """A line of the first-run checklist."""

    title: str
    done: bool
    url: str
    action: str


class Overview(ConsoleView):
    """What a person sees after signing in; follows what happens."""

    template = "monitoring/overview.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page."""
        person = person_of(request)
        sees_runs = person.holds("execution.view_run")
        opens = runs_open(person) if sees_runs else {}
        context: dict[str, Any] = {"notices": notices(person)}
        if sees_runs:
            day = day_of(person)
            context |= {
                "figures": figures(day, opens),
                "latest": list(runs_page({}, person)[:LATEST]),
                "busiest": busiest(day),
            }
            if not (day.completed or Run.objects.filter(status=Status.COMPLETED).exists()):
                context |= {
                    "steps": first_steps(person),
                    "curl": curl_line(settings.PUBLIC_URL, "echo", {"text": "Hello, hub!"}),
                }
        return self.show(context)


def day_of(person: User) -> Figures:
    """What the person sees of the calls of the last 24 hours, by tool."""
    now = timezone.now()
    # A caller's clock may be ahead of this one.
    day = Piece(now - timedelta(hours=24), now + timedelta(hours=24))
    return figures_read(person, [day], "tools").get(day.step, Figures())


def busiest(day: Figures) -> list[dict[str, Any]]:
    """`{tool, total, unsuccessful}` of the tools that were called most."""
    most = heapq.nlargest(BUSIEST, day.tools.values())
    # Of many thousands only those that may be among the first are put in order.
    rows = [(name, total) for name, total in day.tools.items() if total >= most[-1]]
    rows.sort(key=lambda row: (-row[1], row[0]))
    return [
        {"tool": name, "total": total, "unsuccessful": day.failed.get(name, 0)}
        for name, total in rows[:BUSIEST]
    ]


def figures(day: Figures, opens: dict[str, int]) -> list[Figure]:
    """The numbers, of runs without an outcome by status; what needs a person comes first."""
    waiting = sum(opens.get(status, 0) for status in STATUS_GROUPS["waiting"])
    return [
        Figure(
            "Outcome unknown",
            opens.get(Status.OUTCOME_UNKNOWN, 0),
            "status=outcome_unknown",
            "alert-triangle",
            "warn",
        ),
        Figure("Failed, 24 h", day.unsuccessful, "status=unsuccessful&since=24", "circle-x", "bad"),
        Figure("Waiting", waiting, "status=waiting", "hourglass", "busy"),
        Figure("Running", opens.get(Status.RUNNING, 0), "status=running", "player-play", "busy"),
        Figure(
            "Completed, 24 h",
            day.completed,
            "status=completed&since=24",
            "circle-check",
            "good",
        ),
    ]


def _trying(person: User) -> str:
    """What leads to the form that calls echo, for who may; empty for others."""
    echo = Tool.objects.filter(name="echo", active__isnull=False)
    return "Try echo" if person.holds("execution.add_run") and echo.exists() else ""


def first_steps(person: User) -> list[Step]:
    """What is left to do until the first audited call."""
    personas = within(person, Persona.objects.all(), "security.view_persona")
    assigned = Exists(Assignment.objects.filter(persona=OuterRef("pk")))
    persona = personas.alias(assigned=assigned).order_by("-assigned", "pk").first()
    page = reverse("persona", args=[persona.name]) if persona else reverse("personas")
    valid = Token.objects.filter(revoked_at=None, expires_at__gt=timezone.now())
    there = [Tool.objects.filter(active__isnull=False), Assignment.objects.all(), valid]
    published, is_assigned, has_token = map(bool, counts_read([rows[:1] for rows in there]))
    return [
        Step("Tools are published", published, reverse("tools"), "See the tools"),
        Step("A persona is made", persona is not None, reverse("persona_new"), "Make a persona"),
        Step("A tool is assigned to it", is_assigned, f"{page}#assignments", "Assign a tool"),
        Step("It has a token", has_token, f"{page}#tokens", "Make a token"),
        Step("The first call is on record", False, reverse("tool_try", args=["echo"]), _trying(person)),
    ]
