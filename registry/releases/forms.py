"""The forms of the release pages."""

from django import forms

from core.forms import EditForm
from registry.releases.lifecycle import REASON_MAX


class ReasonForm(EditForm):
    """Why a release is deprecated or withdrawn."""

    reason = forms.CharField(
        label="Reason",
        max_length=REASON_MAX,
        widget=forms.TextInput(attrs={"autofocus": True}),
        help_text="Callers read it.",
    )
