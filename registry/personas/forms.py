"""Forms about personas. What they may hold is the services' to say; the fields only read it."""

from django import forms

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
    """A tool or a package for a persona."""

    target = forms.CharField(
        label="Tool or package", max_length=80, help_text="A tool, or package: and a name."
    )


class GrantForm(ConsoleForm):
    """A capability for a persona."""

    capability = forms.CharField(max_length=120, help_text="a:b is held by a:b, a, a:* and *.")
    reason = forms.CharField(max_length=200, help_text="Stands in the audit.")
    expires_at = forms.DateTimeField(
        label="Ends (UTC)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text="Empty: no end.",
    )


class TokenForm(ConsoleForm):
    """A token for a persona."""

    name = forms.CharField(label="Used for", max_length=80, help_text="You will be responsible for it.")
    days = forms.IntegerField(label="Days", initial=90, help_text=f"1 to {TOKEN_DAYS_MAX}.")
