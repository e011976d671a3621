"""The forms of a decision."""

from django import forms

from core.forms import ConsoleForm
from execution.approvals.decide import REASON_MAX

IN_ADVANCE = [
    ("0", "this call only"),
    ("1", "calls of this tool for an hour"),
    ("8", "for 8 hours"),
    ("24", "for a day"),
    ("168", "for a week"),
    ("720", "for 30 days"),
]


class ApproveForm(ConsoleForm):
    """Yes, to this call or to later ones, too."""

    hours = forms.TypedChoiceField(
        label="Approve", choices=IN_ADVANCE, initial="0", required=False, coerce=int, empty_value="0"
    )
    reason = forms.CharField(
        max_length=REASON_MAX, required=False, help_text="Stands in the audit. Later calls need one."
    )


class DenyForm(ConsoleForm):
    """No, and why."""

    reason = forms.CharField(max_length=REASON_MAX, help_text="The caller reads it.")


class DelegateForm(ConsoleForm):
    """Somebody else decides."""

    to = forms.CharField(label="Hand it to", max_length=150, help_text="The name of a person who signs in.")
