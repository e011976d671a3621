"""The form of a try."""

from typing import Any

from django import forms
from django.urls import reverse

from core.forms import ConsoleForm
from execution.runs.forms import JSONField

# What the form's buttons do; anything else shows the call alone.
RUN, SCHEMA = "run", "schema"


class TryForm(ConsoleForm):
    """As whom a tool is called, which version of it, in which context, and with what."""

    persona = forms.CharField(
        label="As persona", max_length=64, help_text="Its rights decide. You answer for the call."
    )
    version = forms.CharField(max_length=64, required=False, help_text="Empty: the active one.")
    session_id = forms.CharField(
        label="Session", max_length=128, required=False, help_text="Empty: the persona's own, default."
    )
    context_data = JSONField(
        label="Context data",
        required=False,
        help_text="A JSON object that the tool gets beside its arguments.",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "form-control code-like"}),
    )
    arguments = JSONField(
        help_text="A JSON object.",
        widget=forms.Textarea(attrs={"rows": 12, "spellcheck": "false", "class": "form-control code-like"}),
    )

    def __init__(self, *args: Any, tool: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["persona"].widget.attrs |= {
            "list": "persona-options",
            "hx-get": reverse("tool_try_personas", args=[tool]),
            "hx-trigger": "focus once, input changed delay:200ms",
            "hx-target": "#persona-options",
            "hx-swap": "innerHTML",
            "hx-disabled-elt": "unset",
        }
        for name in ("persona", "version", "session_id"):
            self.fields[name].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}

    def full_clean(self) -> None:
        """Arguments need not be there where it is the question what they are.

        The call can be shown before it is settled who makes it.
        """
        act = self.data.get("act")
        self.fields["persona"].required = act in {RUN, SCHEMA}
        self.fields["arguments"].required = act != SCHEMA
        super().full_clean()
        # The page tells what a run needs.
        self.fields["persona"].required = self.fields["arguments"].required = True

    def clean_arguments(self) -> dict[str, Any]:
        """Raises ValidationError for what is no object."""
        return _object(self.cleaned_data["arguments"], required=self.fields["arguments"].required)

    def clean_context_data(self) -> dict[str, Any]:
        """Raises ValidationError for what is no object."""
        return _object(self.cleaned_data["context_data"], required=False)

    @property
    def has_context(self) -> bool:
        """Whether something of the context is filled in, or wrong."""
        return any(self[name].value() or self[name].errors for name in ("session_id", "context_data"))


def _object(value: Any, *, required: bool) -> dict[str, Any]:
    if value is None and not required:
        return {}
    if not isinstance(value, dict):
        raise forms.ValidationError("This must be a JSON object.")
    return value
