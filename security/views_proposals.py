"""Pages of changes that loosen a safeguard and wait for a second person."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.errors import ToolHubError
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from security.people import person_of
from security.policy.models import ProposedChange
from security.proposals import (
    may_confirm,
    proposal_confirm,
    proposal_get,
    proposal_refuse,
    proposals_decided,
    proposals_own,
    proposals_waiting,
)


class Proposals(ConsoleView):
    """The changes that the person may confirm, their own, and recent decisions."""

    template = "security/proposals.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page."""
        person = person_of(request)
        return self.show(
            {
                "waiting": proposals_waiting(person),
                "own": proposals_own(person),
                "decided": proposals_decided(person),
            }
        )


class ProposalPage(ConsoleView):
    """One proposed change."""

    template = "security/proposal.html"

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The page."""
        return self.show_proposal(proposal_get(pk, person_of(request)))

    def show_proposal(self, row: ProposedChange, refused: ToolHubError | None = None) -> HttpResponse:
        """The page; with what stood against a confirmation, status 422."""
        person = person_of(self.request)
        context: dict[str, Any] = {
            "row": row,
            "decidable": may_confirm(person, row),
            "own": row.proposed_by_id == person.pk,
            "refused": refused,
        }
        return self.show(context, status=422 if refused else 200)


class ProposalConfirm(ProposalPage):
    """Confirms a change, which is then made."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Back to the page that shows it."""
        return redirect("proposal", pk=pk)

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Makes the change, or shows what stands against it."""
        by = person_of(request)
        row = proposal_get(pk, by)
        try:
            proposal_confirm(by=by, proposal=row)
        except ToolHubError as error:
            return self.show_proposal(proposal_get(pk, by), error)
        messages.success(request, f"{row.title}: confirmed. It counts from the next call on.")
        return redirect("proposals")


class ProposalRefuse(QuestionView):
    """Asks, then refuses a change, or withdraws one's own."""

    def about(self, pk: int) -> Edited[Any] | None:
        """A proposed change is never edited, and decided once."""
        return None

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The question."""
        row = proposal_get(pk, person_of(request))
        own = row.proposed_by_id == request.user.pk
        word = "Withdraw" if own else "Refuse"
        return self.ask(
            Question(f"{word} this change?", row.changes, f"{word} change", reverse("proposal", args=[pk]))
        )

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The act."""
        row = proposal_get(pk, person_of(request))
        proposal_refuse(by=person_of(request), proposal=row)
        messages.success(request, f"{row.title}: nothing was changed.")
        return redirect("proposals")
