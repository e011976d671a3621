"""Pages of the ledger."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import orjson
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse

from audit.ledger import leaf_hash
from audit.models import Event
from audit.selectors import events_list, events_seen, subject_names
from core.lists import HOURS, ListView
from core.pages import ConsoleView, Page

ACTOR_KINDS = ("person", "persona", "system")
# Kinds that the filter proposes; any other can be typed.
KINDS = (
    "assignment.created",
    "assignment.deleted",
    "capability.described",
    "duty.row_retried",
    "flag.created",
    "flag.deleted",
    "flag.switched",
    "grant.created",
    "grant.revoked",
    "limit.changed",
    "limit.created",
    "limit.deleted",
    "output_pattern.added",
    "output_pattern.removed",
    "pause.begun",
    "pause.ended",
    "persona.created",
    "persona.described",
    "persona.isolation_set",
    "persona.tier_set",
    "persona.switched_off",
    "persona.switched_on",
    "release.published",
    "restriction.created",
    "restriction.lifted",
    "run.accepted",
    "run.cancel_asked",
    "runs.cancel_asked",
    "run.outcome",
    "run.refused",
    "run.refused.repeated",
    "tier.changed",
    "tier.created",
    "tier.deleted",
    "token.created",
    "token.revoked",
    "token.rotated",
    "tool.overlay_edited",
    "tool.rule_added",
    "tool.rule_removed",
)


class EventsList(ListView[Event]):
    """Every event, newest first."""

    permission = "audit.view_event"
    template = "audit/events_list.html"
    heading, noun, search = "Audit", "event", "Who or what, newest 20,000"
    filters = ("q", "kind", "actor_kind", "since")
    linked = ("persona", "actor_id", "subject_kind", "subject_id")
    choices: ClassVar = {"actor_kind": ACTOR_KINDS}

    def rows(self, params: Mapping[str, str]) -> QuerySet[Event]:
        """Narrowed by all of them."""
        return events_list(params, self.request.user).defer("canonical")

    def unfit(self, name: str, value: str, known: Sequence[str]) -> str:
        """Return why a parameter is ignored; links name kinds that are not among those to choose from."""
        if name == "kind" and value not in KINDS and not Event.objects.filter(kind=value[:64]).exists():
            return f'The filter kind "{value[:64]}" was ignored: no event has it.'
        return super().unfit(name, value, known)

    def more(self, page: Page[Event]) -> dict[str, Any]:
        """The kinds, actors and times to choose from, and names of what the events are about."""
        names = subject_names(page.rows)
        return {
            "kinds": KINDS,
            "hours": HOURS,
            "actor_kinds": [(kind, f"by a {kind}") for kind in ACTOR_KINDS],
            "names": {event.pk: names.get((event.subject_kind, event.subject_id)) for event in page.rows},
        }


class EventDetail(ConsoleView):
    """One event with its proof so far: text, stored leaf, and the leaf computed from the text."""

    permission = "audit.view_event"
    template = "audit/event_detail.html"

    def get(self, request: HttpRequest, event_id: int) -> HttpResponse:
        """The page."""
        event = events_seen(request.user).filter(pk=event_id).first()
        if event is None:
            raise Http404
        computed = leaf_hash(event.canonical.encode())
        return self.show(
            {
                "event": event,
                "name": subject_names([event]).get((event.subject_kind, event.subject_id), event.subject_id),
                "body": orjson.loads(event.canonical),
                "computed": computed,
                "fits": computed == bytes(event.leaf),
            }
        )
