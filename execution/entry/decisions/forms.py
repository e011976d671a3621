"""The form of the simulator."""

from typing import Any

from django import forms
from django.urls import reverse

from core.forms import ConsoleForm
from execution.runs.forms import JSONField


class SimulatorForm(ConsoleForm):
    """Who would call what."""

    persona = forms.CharField(max_length=64)
    tool = forms.CharField(max_length=64)
    version = forms.CharField(max_length=64, required=False, help_text="Empty: the one that is active.")
    arguments = JSONField(
        required=False, help_text="A JSON object. Empty: conditions on arguments count as met."
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in ("persona", "tool", "version"):
            self.fields[name].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}
        for name in ("persona", "tool"):
            self.fields[name].widget.attrs |= {
                "list": f"{name}-options",
                "hx-get": reverse("simulator_options", args=[name]),
                "hx-trigger": "focus once, input changed delay:200ms",
                "hx-target": f"#{name}-options",
            }

    def clean_arguments(self) -> dict[str, Any] | None:
        """Raises ValidationError for JSON that is no object."""
        given = self.cleaned_data["arguments"]
        if given is not None and not isinstance(given, dict):
            raise forms.ValidationError("The arguments are a JSON object.")
        return given
