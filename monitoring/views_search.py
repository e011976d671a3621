"""The search over everything: a page, and the part that the command palette shows."""

from django.http import HttpRequest, HttpResponse

from core.pages import ConsoleView
from monitoring.search import LONGEST, find
from security.people import person_of


class SearchPage(ConsoleView):
    """What a person finds under `?q=`."""

    template = "monitoring/search.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page; with htmx the results alone."""
        text = request.GET.get("q", "")[:LONGEST]
        return self.show({"text": text, "filters": {"q": text}, "groups": find(person_of(request), text)})
