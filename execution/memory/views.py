"""Pages of sessions: which there are, and what each remembers and was told."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from core.edits import Edited
from core.http.urls import url_read
from core.lists import ListView
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from execution.engine.places import DEFAULT, Place
from execution.engine.selectors import runs_seen
from execution.memory.models import Item, Session, Webhook
from execution.memory.selectors import session_over, spaces_of
from execution.memory.services import session_end
from security.people import person_of
from security.permissions import actor_of
from security.sharing.perms import PermsOn
from security.sharing.reach import about

EVENTS_SHOWN, RUNS_SHOWN, KEYS_SHOWN = 50, 20, 200


def _seen(request: HttpRequest, permission: str) -> QuerySet[Session]:
    rows = Session.objects.select_related("persona")
    return about(person_of(request), rows, permission, persona="persona")


class SessionsList(ListView[Session]):
    """Every session, newest first."""

    permission = "memory.view_session"
    template = "execution/sessions_list.html"
    heading, noun, search = "Sessions", "session", "Session or persona"

    def rows(self, params: Mapping[str, str]) -> QuerySet[Session]:
        """Narrowed by `q`."""
        rows = _seen(self.request, self.permission).order_by("-pk")
        text = params.get("q", "").strip()
        return rows.filter(Q(name__icontains=text) | Q(persona__name__icontains=text)) if text else rows


class SessionDetail(ConsoleView):
    """What one session remembers, its latest events and runs."""

    permission = "memory.view_session"
    template = "execution/session_detail.html"

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The page."""
        session = get_object_or_404(_seen(request, self.permission), pk=pk)
        # Runs that named no session have none in their row.
        name = "" if session.name == DEFAULT else session.name
        person = person_of(request)
        runs = runs_seen(person).filter(persona=session.persona_id, session=name)
        shown = runs.select_related("persona", "tool_version").order_by("-id")[:RUNS_SHOWN]
        return self.show(
            {
                "session": session,
                "perms": PermsOn(person, session.persona),
                "over": session_over(session),
                "spaces": _spaces(session),
                "events": session.events.order_by("-seq")[:EVENTS_SHOWN],
                "webhooks": [
                    (url_read(row.url).origin, ", ".join(row.events))
                    for row in Webhook.objects.filter(persona=session.persona_id).order_by("pk")
                ],
                "runs": shown if person.holds("execution.view_run") else [],
            }
        )


def _spaces(session: Session) -> list[dict[str, Any]]:
    spaces = spaces_of(session.persona_id, session.name)
    items = Item.objects.order_by("key")
    return [{"space": space, "items": items.filter(space=space)[:KEYS_SHOWN]} for space in spaces]


class SessionEnd(QuestionView):
    """Asks, then ends a session."""

    permission = "memory.change_session"

    def about(self, pk: int) -> Edited[Any] | None:
        """Agents write what a session remembers all the time."""
        return None

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The question."""
        session = get_object_or_404(_seen(request, self.permission), pk=pk)
        touched = [
            f"Working and short-term memory of {session.name} of {session.persona.name} is removed.",
            "Long-term memory, events and runs stay.",
        ]
        back = reverse("session", args=[pk])
        return self.ask(Question(f"End {session.name}?", touched, "End it", back, leave="Keep it"))

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The act."""
        session = get_object_or_404(_seen(request, self.permission), pk=pk)
        place = Place(session.persona_id, session.name)
        session_end(by=actor_of(person_of(request)), place=place)
        messages.success(request, f"{session.name} is over.")
        return redirect("session", pk=pk)
