"""The queue of calls that wait for a person, and the page of one."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.errors import NotFound
from core.forms import ConsoleForm
from core.pages import ConsoleView, page_read
from core.questions import Question, QuestionView, switch_wanted
from execution.features.approvals.decide import approval_delegate, approval_deny, approval_grant
from execution.features.approvals.eyes import APPROVE, may_decide
from execution.features.approvals.forms import ApproveForm, DelegateForm, DenyForm, wishes_of
from execution.features.approvals.selectors import (
    approval_get,
    approval_shown,
    approvals_decided,
    approvals_waiting,
)
from execution.models import Approval
from security.edits import four_eyes_edited
from security.four_eyes import CHANGE, four_eyes_switch
from security.models import User
from security.people import person_of
from security.two_person_rule import four_eyes_hold, others_with

SHOWN = 10


class Approvals(ConsoleView):
    """What waits for the person, the oldest first, each with the exact call and both answers."""

    template = "execution/approvals.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page."""
        person = person_of(request)
        waiting = approvals_waiting(person)
        decided = approvals_decided(person)
        if not person.holds(APPROVE) and not decided and not waiting.exists():
            raise NotFound("Nothing waits for this person.")
        page = page_read(waiting, request.GET, descending=False, count=SHOWN)
        return self.show(
            {
                "page": page,
                "rows": [
                    {
                        **approval_shown(row, person, mine=True),
                        "approve": ApproveForm(auto_id=f"approve_{row.pk}_%s", session=row.run.session),
                        "deny": DenyForm(auto_id=f"deny_{row.pk}_%s"),
                    }
                    for row in page.rows
                ],
                "decided": decided,
                "four_eyes": four_eyes_hold(),
                "alone": four_eyes_hold() and not others_with(APPROVE, person.pk),
            }
        )


class ApprovalPage(ConsoleView):
    """One request."""

    template = "execution/approval.html"

    def get(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The page."""
        return self._show(approval_get(pk, person_of(request)))

    def _show(self, approval: Approval, status: int = 200, **forms: ConsoleForm) -> HttpResponse:
        person = person_of(self.request)
        made: dict[str, Any] = {
            "approve": ApproveForm(auto_id="approve_%s", session=approval.run.session),
            "deny": DenyForm(auto_id="deny_%s"),
            "delegate": DelegateForm(auto_id="delegate_%s"),
        }
        row = {**approval_shown(approval, person, mine=may_decide(person, approval)), **made, **forms}
        return self.show({"row": row}, status=status)


class _Answer(ApprovalPage):
    """Takes an answer, and shows the page again where it cannot be taken."""

    word = ""
    said = ""
    form: type[ConsoleForm] = ConsoleForm

    def form_for(self, approval: Approval) -> ConsoleForm:
        """The form as it was sent."""
        return self.form(self.request.POST, auto_id=f"{self.word}_%s")

    def act(self, by: User, pk: UUID, form: ConsoleForm) -> object:
        """The service."""
        raise NotImplementedError

    def post(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Decides."""
        approval = approval_get(pk, person_of(request))
        form = self.form_for(approval)
        by = person_of(request)
        act: Callable[[], object] = lambda: self.act(by, pk, form)  # noqa: E731
        if form.attempt(act) is None:
            return self._show(approval_get(pk, by), status=422, **{self.word: form})
        messages.success(request, f"{approval.run.tool} by {approval.run.persona.name}: {self.said}.")
        return redirect("approvals")


class ApprovalApprove(_Answer):
    """Yes."""

    word, said, form = "approve", "approved, it runs", ApproveForm

    def form_for(self, approval: Approval) -> ConsoleForm:
        """With the session of the call to choose, where it is in one."""
        return ApproveForm(self.request.POST, auto_id="approve_%s", session=approval.run.session)

    def act(self, by: User, pk: UUID, form: ConsoleForm) -> object:
        """Approves."""
        return approval_grant(by=by, approval_id=pk, **wishes_of(form))


class ApprovalDeny(_Answer):
    """No."""

    word, said, form = "deny", "denied", DenyForm

    def act(self, by: User, pk: UUID, form: ConsoleForm) -> object:
        """Denies."""
        return approval_deny(by=by, approval_id=pk, reason=form.cleaned_data["reason"])


class ApprovalDelegate(_Answer):
    """Somebody else."""

    word, said, form = "delegate", "handed on", DelegateForm

    def act(self, by: User, pk: UUID, form: ConsoleForm) -> object:
        """Hands it on."""
        return approval_delegate(by=by, approval_id=pk, to=form.cleaned_data["to"])


class FourEyesSwitch(QuestionView):
    """Asks, then switches the rule of four eyes."""

    permission = CHANGE

    def about(self) -> Edited[Any] | None:
        """The switch."""
        return four_eyes_edited(make=self.request.method == "POST")

    def get(self, request: HttpRequest) -> HttpResponse:
        """The question."""
        on = not four_eyes_hold()
        touched = [
            "Who is responsible for a caller may then approve its calls: one person alone decides."
            if not on
            else "Who is responsible for a caller cannot approve its calls; somebody else has to.",
            "It holds for all of the hub, and each decision's record says which rule held.",
        ]
        return self.ask(
            Question.switch("the rule of four eyes", on=on, touched=touched, back=reverse("approvals"))
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        """The act."""
        on = switch_wanted(request)
        four_eyes_switch(by=person_of(request), on=on)
        messages.success(request, f"The rule of four eyes is {'on' if on else 'off'}.")
        return redirect("approvals")
