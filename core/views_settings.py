"""The settings page: what of the hub itself a person may look at or change."""

from django.http import Http404, HttpRequest, HttpResponse

from core.context import settings_of
from core.pages import ConsoleView


class SettingsPage(ConsoleView):
    """Leads to each setting that the person may see; there is none for who may see nothing."""

    template = "core/settings.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        found = settings_of(request.user)
        if not found:
            raise Http404
        return self.show({"places": found})
