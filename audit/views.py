"""Pages of the ledger."""

import orjson
from django.http import Http404, HttpRequest, HttpResponse

from audit.ledger import leaf_hash
from audit.models import Event
from audit.selectors import FILTERS, events_list
from core.pages import ConsoleView, page_read

SHOWN_FILTERS = ("q", *FILTERS)
ACTOR_KINDS = ("person", "persona", "system")
# Kinds that the filter proposes; any other can be typed.
KINDS = (
    "assignment.created",
    "assignment.deleted",
    "grant.created",
    "grant.revoked",
    "persona.created",
    "persona.switched_off",
    "persona.switched_on",
    "release.published",
    "run.accepted",
    "run.cancel_asked",
    "run.outcome",
    "run.refused",
    "run.refused.repeated",
    "token.created",
    "token.revoked",
)


class EventsList(ConsoleView):
    """Every event, newest first."""

    permission = "audit.view_event"
    template = "audit/events_list.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The list, narrowed by SHOWN_FILTERS."""
        page = page_read(events_list(request.GET).defer("canonical"), request.GET)
        return self.show(
            {
                "page": page,
                "filters": {name: request.GET.get(name, "") for name in SHOWN_FILTERS},
                "filtered": any(request.GET.get(name) for name in SHOWN_FILTERS),
                "kinds": KINDS,
                "actor_kinds": ACTOR_KINDS,
            }
        )


class EventDetail(ConsoleView):
    """One event with its proof so far: text, stored leaf, and the leaf computed from the text."""

    permission = "audit.view_event"
    template = "audit/event_detail.html"

    def get(self, request: HttpRequest, event_id: int) -> HttpResponse:
        """The page."""
        event = Event.objects.filter(pk=event_id).first()
        if event is None:
            raise Http404
        computed = leaf_hash(event.canonical.encode())
        return self.show(
            {
                "event": event,
                "body": orjson.loads(event.canonical),
                "computed": computed,
                "fits": computed == bytes(event.leaf),
            }
        )
