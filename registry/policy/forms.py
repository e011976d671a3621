"""Forms about policy."""

from typing import Any

from django import forms
from django.urls import reverse

from core.forms import ConsoleForm
from registry.policy.named import persona_named, tool_named
from security.policy.services import ISOLATION, REASON_MAX

_UNTIL = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")


class PickingForm(ConsoleForm):
    """A form that names personas and tools, with pickers for both."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in {"persona", "tool"} & set(self.fields):
            self.fields[name].widget.attrs |= {
                "autocomplete": "off",
                "spellcheck": "false",
                "list": f"{name}-options",
                "hx-get": reverse("simulator_options", args=[name]),
                "hx-trigger": "focus once, input changed delay:200ms",
                "hx-target": f"#{name}-options",
            }

    def wishes(self) -> dict[str, Any]:
        """What the services take. Raises InvalidRequest for a persona or tool that does not exist."""
        given = dict(self.cleaned_data)
        if "persona" in given:
            given["persona"] = persona_named(given["persona"])
        if "tool" in given:
            given["tool"] = tool_named(given["tool"])
        return given


class PauseForm(PickingForm):
    """What is paused, and why."""

    persona = forms.CharField(max_length=64, required=False, help_text="Pauses all of its calls.")
    tool = forms.CharField(
        max_length=64, required=False, help_text="Pauses all calls of it. Neither: the whole hub."
    )
    reason = forms.CharField(max_length=REASON_MAX, help_text="Callers are told. It stands in the audit.")
    expires_at = forms.DateTimeField(
        label="Ends (UTC)", required=False, widget=_UNTIL, help_text="Empty: until somebody ends it."
    )


class RestrictionForm(PickingForm):
    """What is denied, and why."""

    capability = forms.CharField(
        max_length=120,
        required=False,
        help_text="Denies what needs it: file:delete, or file:* for all of it.",
    )
    persona = forms.CharField(max_length=64, required=False, help_text="Empty: every persona.")
    tool = forms.CharField(max_length=64, required=False, help_text="Empty: every tool.")
    reason = forms.CharField(max_length=REASON_MAX, help_text="Callers are told. It stands in the audit.")
    expires_at = forms.DateTimeField(
        label="Ends (UTC)", required=False, widget=_UNTIL, help_text="Empty: until somebody lifts it."
    )


_AS_TOOLS_ASK = "as each tool asks"


class StandingForm(ConsoleForm):
    """What holds for a persona as a whole."""

    isolation = forms.ChoiceField(
        label="Least isolation",
        required=False,
        choices=[(word, word or _AS_TOOLS_ASK) for word in ISOLATION],
        help_text="strict and paranoid refuse built-in tools, which run without a sandbox.",
    )
