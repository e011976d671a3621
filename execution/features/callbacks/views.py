"""Pages of callbacks."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.errors import ToolHubError
from core.questions import Question, QuestionView
from core.submissions.pages import refused
from execution.engine.selectors import run_detail
from execution.features.callbacks.again import callback_redeliver
from execution.features.callbacks.state import callback_of
from security.people import person_of
from security.permissions import actor_of


class RunRedeliver(QuestionView):
    """Asks, then sends a run's callback again."""

    permission = "execution.change_run"

    def about(self, run_id: UUID) -> Edited[Any] | None:
        """A run with an outcome is never edited."""
        return None

    def get(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """The question."""
        run = run_detail(run_id, person_of(request), self.permission)
        callback = callback_of(run)
        to = callback.to if callback else "nobody"
        touched = [
            f"The result of {run.tool} is posted to {to} at once, and repeated until it is taken.",
            "It has the same id as before: a receiver that keeps ids takes it once.",
        ]
        back = reverse("run", args=[run.pk])
        return self.ask(Question("Send the callback again?", touched, "Send it", back, calm=True))

    def post(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """The act."""
        run = run_detail(run_id, person_of(request), self.permission)
        try:
            callback_redeliver(by=actor_of(person_of(request)), run=run)
        except ToolHubError as error:
            return refused(request, f"Not sent again: {error.message}", reverse("run", args=[run.pk]))
        messages.success(request, "The callback is sent again.")
        return redirect("run", run_id=run.pk)
