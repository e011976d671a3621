"""The forms about people."""

from typing import Any

from django import forms

from core.forms import ConsoleForm, EditForm
from security.accounts.roles import ROLES
from security.models import User

_CHOICES = [(role.name, f"{role.name}: {role.meaning}") for role in ROLES]


def _roles(label: str = "Roles") -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        label=label,
        required=False,
        choices=_CHOICES,
        widget=forms.CheckboxSelectMultiple,
        help_text="Several count together. None: the person signs in and sees nothing.",
    )


class InviteForm(ConsoleForm):
    """A new person."""

    username = forms.CharField(max_length=64, help_text="To sign in with. It stays as it is.")
    email = forms.EmailField(
        label="E-mail", max_length=254, required=False, help_text="For a mail with the way in, and notices."
    )
    roles = _roles()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}


class RolesForm(EditForm):
    """The roles of a person."""

    roles = _roles("What they may do")

    def yours(self) -> dict[str, Any]:
        """The roles that the form sets, in the order in which they are kept."""
        return {"roles": sorted(self.cleaned_data["roles"])}


class LeaveForm(EditForm):
    """What becomes of what a person answers for."""

    successor = forms.CharField(
        label="Hand everything to",
        max_length=150,
        required=False,
        help_text="The name of a person. Empty: tokens are revoked, with what agents made with them; "
        "schedules are switched off.",
    )

    def clean_successor(self) -> User | None:
        """The person; None where nobody is named. Raises ValidationError."""
        name = self.cleaned_data["successor"].strip()
        if not name:
            return None
        person = User.objects.filter(username=name, is_active=True).first()
        if person is None:
            raise forms.ValidationError("There is nobody of this name who can sign in.")
        return person
