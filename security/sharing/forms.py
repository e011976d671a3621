"""The forms of teams and of sharing."""

from collections.abc import Sequence
from typing import cast

from django import forms
from django.contrib.auth.models import Group

from core.errors import InvalidRequest
from core.forms import ConsoleForm, EditForm
from security.models import User
from security.sharing.levels import LEVELS
from security.sharing.teams import teams


def _name(label: str, text: str) -> forms.CharField:
    attrs = {"autocomplete": "off", "spellcheck": "false"}
    return forms.CharField(label=label, max_length=150, help_text=text, widget=forms.TextInput(attrs=attrs))


class TeamForm(ConsoleForm):
    """A new team."""

    name = _name("Name", "Letters, digits, dots, hyphens and _. It stays as it is.")


class MemberForm(ConsoleForm):
    """Another member."""

    person = _name("Person", "The name that they sign in with.")


class ShareForm(ConsoleForm):
    """A right for a person or a team."""

    to = _name("Person or team", "A name, or team: and a name.")
    level = forms.ChoiceField(
        label="Right", choices=[(level, f"{level}: {what}") for level, what in LEVELS.items()]
    )

    def __init__(self, *args: object, levels: Sequence[str], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        # Those that the object has; who sends another is told so by the service.
        choices = [(level, f"{level}: {LEVELS[level]}") for level in levels]
        cast(forms.ChoiceField, self.fields["level"]).choices = choices


def _owners() -> list[tuple[str, str]]:
    names = teams().values_list("name", flat=True)
    return [("", "everybody, as roles say"), *((name, name) for name in names)]


class OwnerForm(EditForm):
    """The team that owns an object."""

    team = forms.ChoiceField(
        label="Belongs to",
        required=False,
        choices=_owners,
        help_text="Only the team's members and those with a right reach it then. Admins always do.",
    )


def holder_named(text: str, field: str = "to") -> User | Group:
    """Who is meant: `kim`, or `team:data`. Raises InvalidRequest."""
    text = text.strip()
    found: User | Group | None = None
    if "\0" not in text:
        if text.startswith("team:"):
            found = teams().filter(name=text.removeprefix("team:").strip()).first()
        else:
            found = User.objects.filter(username=text, is_active=True).first()
    if found is None:
        message = "There is nobody of this name who can sign in, and no such team."
        raise InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])
    return found
