"""Forms about personas. What they may hold is the services' to say; the fields only read it."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.urls import reverse

from core.errors import ToolHubError
from core.forms import ConsoleForm, EditForm
from security.edits import GRANT
from security.models import Grant
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
        help_text="A name; package: or collection: in front tells it from a tool of the same name.",
    )


# What the names of a condition's fields end with, one for each that the form can have.
ROWS = ("", "_2", "_3", "_4")
_KINDS = [
    ("path", "a path lies within folders"),
    ("host", "an address is at hosts"),
    ("equals", "a text is one of these"),
    ("matches", "a text matches one of these, with * for any"),
    ("cel", "an expression in CEL is true"),
    ("approval", "a person approves the call"),
]


def _condition_fields(row: str) -> dict[str, forms.Field]:
    """The fields of one condition; the first row explains them."""
    empty = "no other condition" if row else "always"
    about = "The argument that is looked at: /path, /target/url."
    values = (
        "Folders (/srv/reports), hosts (*.example.org) or texts (order-*), one a line."
        " In CEL an expression: arguments.amount < 100"
    )
    return {
        f"condition{row}": forms.ChoiceField(
            label="And only where" if row else "Only where", required=False, choices=[("", empty), *_KINDS]
        ),
        f"argument{row}": forms.CharField(
            label="Argument",
            required=False,
            max_length=500,
            widget=forms.TextInput(
                attrs={"list": "arguments-known", "autocomplete": "off", "spellcheck": "false"}
            ),
            help_text="" if row else about,
        ),
        f"values{row}": forms.CharField(
            label="Is",
            required=False,
            max_length=2000,
            widget=forms.Textarea(attrs={"rows": 2}),
            help_text="" if row else values,
        ),
    }


def _condition_read(given: Mapping[str, Any], row: str) -> dict[str, Any] | None:
    """The condition in a row's fields; None for an empty row."""
    kind, argument, values = (given[f"{name}{row}"] for name in ("condition", "argument", "values"))
    if not kind:
        return None
    if kind == "approval":
        return {"kind": kind}
    if kind == "cel":
        return {"kind": kind, "expression": values.strip()}
    lines = [line.strip() for line in values.splitlines() if line.strip()]
    return {"kind": kind, "argument": argument.strip(), "values": lines}


class GrantForm(ConsoleForm):
    """A capability for a persona, under several conditions, which all have to hold."""

    rows: Sequence[str] = ()

    capability = forms.CharField(
        max_length=120,
        widget=forms.TextInput(
            attrs={"list": "capabilities-known", "autocomplete": "off", "spellcheck": "false"}
        ),
        help_text="Such as file:read, or file:* for all of file.",
    )
    reason = forms.CharField(max_length=200, help_text="It stands in the audit.")
    expires_at = forms.DateTimeField(
        label="Ends (UTC)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text="Empty: no end.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "capability" not in self.fields:
            return
        self.fields["capability"].widget.attrs |= {
            "hx-get": reverse("capability_options"),
            "hx-trigger": "focus once, input changed delay:200ms",
            "hx-target": "#capabilities-known",
            "hx-swap": "innerHTML",
        }

    def wishes(self) -> dict[str, Any]:
        """What the service takes; conditions in the order of their rows."""
        names = ("capability", "reason", "expires_at")
        given = {name: self.cleaned_data[name] for name in names if name in self.fields}
        made = [(row, _condition_read(self.cleaned_data, row)) for row in ROWS]
        self.rows = [row for row, condition in made if condition]
        given["conditions"] = [condition for _, condition in made if condition]
        return given

    def take(self, error: ToolHubError) -> None:
        """Puts what is wrong with a condition at the field that it came from."""
        for item in error.errors:
            kind, _, rest = item.get("pointer", "").removeprefix("/").partition("/")
            number = rest.partition("/")[0]
            if kind == "conditions":
                row = self.rows[int(number)] if number.isdigit() and int(number) < len(self.rows) else ""
                field = "argument" if rest.endswith("/argument") else "values"
                item["pointer"] = f"/{field}{row}"
        super().take(error)


for _row in ROWS:
    GrantForm.base_fields |= _condition_fields(_row)


class GrantEditForm(GrantForm, EditForm):
    """A grant that is there: all but its capability can be changed."""

    capability = None  # type: ignore[assignment]  # this is how Django leaves a field out

    def __init__(self, *args: Any, grant: Grant, **kwargs: Any) -> None:
        super().__init__(*args, of=GRANT.of(grant), **kwargs)
        kinds, known = [one["kind"] for one in grant.conditions], dict(_KINDS)
        # Conditions that the form cannot show stay.
        self.keeps = len(kinds) > len(ROWS) or any(kind not in known for kind in kinds)
        if self.keeps:
            for row in ROWS:
                for name in ("condition", "argument", "values"):
                    del self.fields[f"{name}{row}"]

    def wishes(self) -> dict[str, Any]:
        """What the service takes; no conditions where those that are there stay."""
        if self.keeps:
            return {name: self.cleaned_data[name] for name in ("reason", "expires_at")}
        return super().wishes()

    @staticmethod
    def values_of(grant: Grant) -> dict[str, Any]:
        """The grant as the form shows it."""
        values: dict[str, Any] = {"reason": grant.reason, "expires_at": grant.expires_at}
        for row, one in zip(ROWS, grant.conditions, strict=False):
            values |= {f"condition{row}": one["kind"], f"argument{row}": one.get("argument", "")}
            values[f"values{row}"] = one.get("expression", "\n".join(one.get("values", ())))
        return values


class TokenForm(ConsoleForm):
    """A token for a persona."""

    name = forms.CharField(label="Used for", max_length=80, help_text="You will be responsible for it.")
    days = forms.IntegerField(label="Days", initial=90, help_text=f"1 to {TOKEN_DAYS_MAX}.")
