"""The form of a try."""

from typing import Any

from django import forms
from django.urls import reverse

from core.forms import ConsoleForm
from execution.runs.forms import JSONField

RUN = "run"


class TryForm(ConsoleForm):
    """As whom a tool is called, which version of it, and with what."""

    persona = forms.CharField(
        label="As persona", max_length=64, help_text="Its rights decide. You answer for the call."
    )
    version = forms.CharField(max_length=64, required=False, help_text="Empty: the active one.")
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
        }
        for name in ("persona", "version"):
            self.fields[name].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}
