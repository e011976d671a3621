"""A run's files on its page: the download."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from core.pages import ConsoleView
from execution.engine.selectors import run_detail
from execution.features.artefacts.download import artefact_of, artefact_response
from security.people import person_of


class RunArtefact(ConsoleView):
    """One file, as a download."""

    permission = "execution.view_run"

    def get(self, request: HttpRequest, run_id: UUID, name: str) -> HttpResponse:
        """The bytes."""
        return artefact_response(
            artefact_of(run_detail(run_id, person_of(request), self.permission).pk, name)
        )
