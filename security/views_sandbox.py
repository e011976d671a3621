"""The console's page about the sandbox: the same facts as `manage.py doctor`."""

from django.http import HttpRequest, HttpResponse

from core.pages import ConsoleView
from security.sandbox.doctor import MADE_OF, diagnose


class Sandbox(ConsoleView):
    """What this machine can hold code with. Tried once for each web process."""

    permission = "security.view_user"
    template = "security/sandbox.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page."""
        found = diagnose()
        levels = [(each, MADE_OF[each.level]) for each in found.probes]
        return self.show({"found": found, "levels": levels})
