"""The form of a new schedule."""

from typing import Any

from django import forms
from django.urls import reverse

from core.forms import ConsoleForm
from execution.entry.schedules.selectors import PICKED
from execution.entry.schedules.services import NAME_MAX
from execution.runs.forms import JSONField

_WHEN = "Minute, hour, day of month, month, day of week. 0 9 * * 1-5 is nine o'clock from Monday to Friday."


class ScheduleForm(ConsoleForm):
    """What is called, for whom and when."""

    name = forms.CharField(max_length=NAME_MAX, help_text="What it is for.")
    persona = forms.CharField(max_length=64, help_text="Under whose rights it runs.")
    tool = forms.CharField(max_length=64, help_text="What is called.")
    version = forms.CharField(max_length=64, required=False, help_text="Empty: the one that is active then.")
    arguments = JSONField(help_text="A JSON object.", initial="{}")
    cron = forms.CharField(label="When", max_length=120, help_text=_WHEN)
    time_zone = forms.CharField(
        label="Time zone", max_length=64, initial="UTC", help_text="A name such as Europe/Berlin."
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in ("persona", "tool", "version", "cron", "time_zone"):
            self.fields[name].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}
        for name in PICKED:
            self.fields[name].widget.attrs |= {
                "list": f"{name}-options",
                "hx-get": reverse("schedule_options", args=[name]),
                "hx-trigger": "focus once, input changed delay:200ms",
                "hx-target": f"#{name}-options",
            }
        if not self.is_bound:
            self.fields["name"].widget.attrs["autofocus"] = True
