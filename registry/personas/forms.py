"""Forms about personas. What they may hold is the services' to say; the fields only read it."""

from typing import Any

from django import forms
from django.urls import reverse

from core.errors import ToolHubError
from core.forms import ConsoleForm
from security.services import TOKEN_DAYS_MAX


class PersonaForm(ConsoleForm):
    """A new persona."""

    name = forms.CharField(max_length=64, help_text="Small letters, digits and hyphens. It stays as it is.")
    title = forms.CharField(max_length=120, required=False, help_text="How people call it.")
    description = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What its agents do.",
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}
        if not self.is_bound:
            self.fields["name"].widget.attrs["autofocus"] = True


class AssignForm(ConsoleForm):
    """A tool, a package or a collection for a persona."""

    target = forms.CharField(
        label="Tool, package or collection",
        max_length=80,
        help_text="A tool, or package: or collection: and a name.",
    )


class GrantForm(ConsoleForm):
    """A capability for a persona."""

    capability = forms.CharField(
        max_length=120,
        widget=forms.TextInput(
            attrs={"list": "capabilities-known", "autocomplete": "off", "spellcheck": "false"}
        ),
        help_text="a:b is held by a:b, a, a:* and *.",
    )
    reason = forms.CharField(max_length=200, help_text="Stands in the audit.")
    expires_at = forms.DateTimeField(
        label="Ends (UTC)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text="Empty: no end.",
    )
    condition = forms.ChoiceField(
        label="Only where",
        required=False,
        choices=[
            ("", "always"),
            ("path", "a path lies within folders"),
            ("host", "an address is at hosts"),
            ("equals", "a text is one of these"),
            ("matches", "a text matches one of these, with * for any"),
            ("cel", "an expression in CEL is true"),
            ("approval", "a person approves the call"),
        ],
    )
    argument = forms.CharField(
        required=False,
        max_length=500,
        widget=forms.TextInput(
            attrs={"list": "arguments-known", "autocomplete": "off", "spellcheck": "false"}
        ),
        help_text="The argument that is looked at: /path, /target/url.",
    )
    values = forms.CharField(
        label="Is",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Folders (/srv/reports), hosts (*.example.org) or texts (order-*), one a line."
        " In CEL an expression: arguments.amount < 100",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["capability"].widget.attrs |= {
            "hx-get": reverse("capability_options"),
            "hx-trigger": "focus once, input changed delay:200ms",
            "hx-target": "#capabilities-known",
            "hx-swap": "innerHTML",
        }

    def wishes(self) -> dict[str, Any]:
        """What the service takes."""
        given = dict(self.cleaned_data)
        kind, argument, values = given.pop("condition"), given.pop("argument"), given.pop("values")
        if kind == "approval":
            given["conditions"] = [{"kind": kind}]
        elif kind == "cel":
            given["conditions"] = [{"kind": kind, "expression": values.strip()}]
        elif kind:
            lines = [line.strip() for line in values.splitlines() if line.strip()]
            given["conditions"] = [{"kind": kind, "argument": argument.strip(), "values": lines}]
        return given

    def take(self, error: ToolHubError) -> None:
        """Puts what is wrong with a condition at the field that it came from."""
        for item in error.errors:
            place = item.get("pointer", "")
            if place.startswith("/conditions"):
                item["pointer"] = "/argument" if place.endswith("/argument") else "/values"
        super().take(error)


class TokenForm(ConsoleForm):
    """A token for a persona."""

    name = forms.CharField(label="Used for", max_length=80, help_text="You will be responsible for it.")
    days = forms.IntegerField(label="Days", initial=90, help_text=f"1 to {TOKEN_DAYS_MAX}.")
