"""The page of the steward's duties."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from core.duties.models import FailedRow
from core.edits import Edited
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from monitoring.duties import duty_states, row_retry
from security.people import person_of

ROWS = 200


class DutiesPage(ConsoleView):
    """Each duty with its last success, and the rows that failed."""

    permission = "duties.view_failedrow"
    template = "monitoring/duties.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page."""
        rows = FailedRow.objects.order_by("-failures", "-failed_at")[:ROWS]
        return self.show({"duties": duty_states(), "rows": rows})


class RowRetry(QuestionView):
    """Asks, then makes a row due again."""

    permission = "duties.change_failedrow"

    def about(self, failed: int) -> Edited[Any] | None:
        """The record of a failure is never edited."""
        return None

    def get(self, request: HttpRequest, failed: int) -> HttpResponse:
        """The question."""
        found = get_object_or_404(FailedRow, pk=failed)
        touched = [f"The duty {found.duty} tries row {found.key} in its next turn.", found.error]
        title = f"Try row {found.key} again?"
        return self.ask(Question(title, touched, "Try again", reverse("duties"), calm=True))

    def post(self, request: HttpRequest, failed: int) -> HttpResponse:
        """The act."""
        found = get_object_or_404(FailedRow, pk=failed)
        row_retry(by=person_of(request), row=found)
        messages.success(request, f"{found.duty} tries row {found.key} in its next turn.")
        return redirect("duties")
