"""The forms of a decision."""

from typing import Any

from django import forms

from core.forms import ConsoleForm
from execution.features.approvals.decide import REASON_MAX, SESSION_HOURS
from toolhub_sdk.visible_text import text_seen

SESSION = "session"
IN_ADVANCE = [
    ("0", "this call only"),
    (SESSION, f"calls of this tool in its session, for {SESSION_HOURS} hours at most"),
    ("1", "calls of this tool for an hour"),
    ("8", "for 8 hours"),
    ("24", "for a day"),
    ("168", "for a week"),
    ("720", "for 30 days"),
]


class ApproveForm(ConsoleForm):
    """Yes, to this call or to later ones, too."""

    hours = forms.ChoiceField(label="Approve", choices=IN_ADVANCE, initial="0", required=False)
    reason = forms.CharField(
        max_length=REASON_MAX,
        required=False,
        help_text="It stands in the audit; needed for later calls.",
    )

    def __init__(self, *args: Any, session: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = text_seen(session[:40])
        words = f"calls of this tool in the session {named}, for {SESSION_HOURS} hours at most"
        shown = [(value, words if value == SESSION else said) for value, said in IN_ADVANCE]
        # What is sent was checked by now; where there is no session, the service says so.
        hours = self.fields["hours"]
        hours.choices = [one for one in shown if session or one[0] != SESSION]  # type: ignore[attr-defined]


def wishes_of(form: ConsoleForm) -> dict[str, Any]:
    """What the service takes of an ApproveForm."""
    chosen = form.cleaned_data["hours"] or "0"
    session = chosen == SESSION
    hours = 0 if session else int(chosen)
    return {"reason": form.cleaned_data["reason"], "session": session, "hours": hours}


class DenyForm(ConsoleForm):
    """No, and why."""

    reason = forms.CharField(max_length=REASON_MAX, help_text="The caller reads it.")


class DelegateForm(ConsoleForm):
    """Somebody else decides."""

    to = forms.CharField(label="Hand it to", max_length=150, help_text="The name of a person who signs in.")
