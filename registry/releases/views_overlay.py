"""The page on which people add to a tool what its release does not say."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from core.forms import EditForm
from core.pages import ConsoleView
from registry.contracts import CATEGORIES
from registry.edits import TOOL_SETTINGS
from registry.releases.overlay import SWITCHES, TEXT_MAX, tool_overlay_edit
from registry.selectors import tool_detail
from security.people import person_of


class OverlayForm(EditForm):
    """Category, tags, documentation and notes."""

    category = forms.ChoiceField(
        required=False, choices=[("", "as its release says"), *((name, name) for name in CATEGORIES)]
    )
    tags = forms.CharField(
        required=False, max_length=1000, help_text="Separated by commas. Empty: those of its release."
    )
    documentation = forms.CharField(
        required=False,
        max_length=TEXT_MAX,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="Agents read it, too.",
    )
    approval = forms.ChoiceField(
        label="Approval of calls",
        required=False,
        choices=[("", "as its contract says"), ("yes", "a person approves each call")],
    )
    sanitise = forms.ChoiceField(
        label="Sanitised arguments",
        required=False,
        choices=[
            ("", "as its contract says"),
            ("yes", "control and bidi characters out, NFC, paths resolved"),
        ],
    )
    contentChecks = forms.ChoiceField(  # noqa: N815 - as the overlay has it
        label="Arguments that look like attacks",
        required=False,
        choices=[
            ("", "as its contract says"),
            ("record", "record: a warning, and the run keeps what was found"),
            ("block", "block: the call is refused"),
            ("off", "off: nothing is looked at"),
        ],
    )
    notes = forms.CharField(
        required=False,
        max_length=TEXT_MAX,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="For people only.",
    )

    def overlay(self) -> dict[str, Any]:
        """As the service takes it."""
        given = self.cleaned_data
        tags = [tag.strip() for tag in given["tags"].split(",") if tag.strip()]
        return {**given, "tags": tags, **{name: given[name] == "yes" for name in SWITCHES}}

    def yours(self) -> dict[str, Any]:
        """The values that the form sets."""
        return self.overlay()


class ToolEdit(ConsoleView):
    """Edits a tool's overlay."""

    permission = "registry.change_tool"
    template = "registry/tool_edit.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The form with what is there."""
        tool = tool_detail(name, person_of(request), self.permission)
        switches = {name: "yes" if tool.overlay.get(name) else "" for name in SWITCHES}
        tags = ", ".join(tool.overlay.get("tags", []))
        form = OverlayForm(of=TOOL_SETTINGS.of(tool), initial={**tool.overlay, "tags": tags, **switches})
        return self.show({"tool": tool, "form": form})

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Keeps it, or shows what is wrong."""
        tool = tool_detail(name, person_of(request), self.permission)
        form = OverlayForm(request.POST, of=TOOL_SETTINGS.of(tool))
        done = form.attempt(
            lambda: tool_overlay_edit(by=person_of(request), tool=tool, overlay=form.overlay())
        )
        if done is None:
            return self.show({"tool": tool, "form": form}, status=form.status)
        messages.success(request, f"{tool.name} is described anew.")
        return redirect("tool", name=tool.name)
