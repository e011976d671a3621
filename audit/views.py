"""Pages of the ledger."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import orjson
from django.db.models import F, QuerySet
from django.db.models.expressions import CombinedExpression
from django.http import Http404, HttpRequest, HttpResponse

from audit.kinds import families_declared, kind_named
from audit.ledger import leaf_hash
from audit.models import Event
from audit.selectors import events_list, events_seen, events_told, kinds_are_rare, kinds_in
from core.lists import HOURS, ListView
from core.pages import ConsoleView, Page

ACTOR_KINDS = ("person", "persona", "system")


class EventsList(ListView[Event]):
    """Every event, newest first."""

    permission = "audit.view_event"
    template = "audit/events_list.html"
    heading, noun, search = "Audit", "event", "Who or what, newest 20,000"
    filters = ("q", "family", "kind", "actor_kind", "since")
    linked = ("persona", "actor_id", "subject_kind", "subject_id")
    choices: ClassVar = {"actor_kind": ACTOR_KINDS}

    def rows(self, params: Mapping[str, str]) -> QuerySet[Event]:
        """Narrowed by all of them."""
        return events_list(params, self.request.user)

    def order(self, params: Mapping[str, str], key: str) -> F | CombinedExpression:
        """By number, which databases find fast for frequent kinds; rare ones are sorted after they are read.

        Databases expect rare kinds all over the table, and walk it whole where all of them are old.
        """
        return F(key) + 0 if kinds_are_rare(params) else F(key)

    def unfit(self, name: str, value: str, known: Sequence[str]) -> str:
        """Return why a parameter is ignored. Events may be of kinds that no app declares any more."""
        if name == "family" and value not in (names := [family.name for family in families_declared()]):
            return f'The filter family "{value[:64]}" was ignored. Expected one of {", ".join(names)}.'
        if name == "kind" and kind_named(value) is None:
            found = Event.objects.filter(kind=value[:64]).exists()
            return "" if found else f'The filter kind "{value[:64]}" was ignored: no event has it.'
        return super().unfit(name, value, known)

    def more(self, page: Page[Event]) -> dict[str, Any]:
        """The families, kinds, actors and times to choose from, and the events in words."""
        return {
            "families": [(family.name, family.title) for family in families_declared()],
            "kinds": kinds_in(self.request.GET.get("family", "")),
            "hours": HOURS,
            "actor_kinds": [(kind, f"by a {kind}") for kind in ACTOR_KINDS],
            "told": events_told(page.rows),
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
        (told,) = events_told([event])
        computed = leaf_hash(event.canonical.encode())
        return self.show(
            {
                "event": event,
                "told": told,
                "body": orjson.loads(event.canonical),
                "computed": computed,
                "fits": computed == bytes(event.leaf),
            }
        )
