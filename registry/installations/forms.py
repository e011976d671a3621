"""The forms of the install pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from core.forms import ConsoleForm
from registry.installations.models import SourceType
from registry.installations.source_form import Source
from toolhub_sdk.checks.contents import ARCHIVE_BYTES_MAX

_TYPES = [(kind.value, kind.label) for kind in SourceType if kind is not SourceType.FOLDER]


_NEEDED = {
    SourceType.GIT.value: ("location",),
    SourceType.URL.value: ("location", "digest"),
    SourceType.UPLOAD.value: ("file",),
}
_NEEDED_BY_SOME = frozenset(name for names in _NEEDED.values() for name in names)


class InstallForm(ConsoleForm):
    """Where the package comes from. Only the fields of the chosen type count."""

    type = forms.ChoiceField(label="From", choices=_TYPES, initial=SourceType.GIT)
    location = forms.CharField(
        label="Address",
        max_length=2000,
        help_text="Of the repository, by https or ssh, or of the zip: https://code.example.org/team/weather.git",
    )
    ref = forms.CharField(
        label="Branch, tag or commit", max_length=200, required=False, help_text="Empty: the default branch."
    )
    path = forms.CharField(
        label="Folder", max_length=240, required=False, help_text="Of the package, when it is not at the top."
    )
    digest = forms.CharField(
        label="SHA-256",
        max_length=71,
        help_text="Of a zip at an address: 64 hex digits, as the publisher names them.",
    )
    file = forms.FileField(
        label="Zip",
        help_text=f"At most {ARCHIVE_BYTES_MAX // 1_048_576} MiB.",
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip"}),
    )
    team = forms.ChoiceField(
        label="Owner",
        required=False,
        help_text="Until the package is published, you and this team see the installation. "
        "A new package then belongs to the team.",
    )

    use_required_attribute = False

    def __init__(self, *args: Any, teams: Sequence[str] = (), owner: str = "", **kwargs: Any) -> None:
        """`teams` names the possible owners and `owner` the proposed one. Without teams nothing is asked."""
        super().__init__(*args, **kwargs)
        if teams:
            names = [(name, f"Team {name}") for name in teams]
            self.fields["team"].choices = [("", "No team: everyone who may install packages"), *names]  # type: ignore[attr-defined]
            self.fields["team"].initial = owner
        else:
            del self.fields["team"]

    def full_clean(self) -> None:
        """Needs what the chosen type needs."""
        if self.is_bound:
            wanted = _NEEDED.get(str(self.data.get("type")), ())
            for name in _NEEDED_BY_SOME:
                self.fields[name].required = name in wanted
        super().full_clean()
        # Who changes the type is told what that one needs.
        for name in _NEEDED_BY_SOME:
            self.fields[name].required = True

    def clean(self) -> dict[str, Any]:
        """Refuses a zip that is too large before it is read."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        file = given.get("file")
        if file is not None and file.size > ARCHIVE_BYTES_MAX:
            self.add_error("file", f"The zip has more than {ARCHIVE_BYTES_MAX // 1_048_576} MiB.")
        return given

    def source(self) -> tuple[Source, bytes | None]:
        """The source, and the upload's bytes."""
        given = self.cleaned_data
        kind = given["type"]
        if kind == SourceType.UPLOAD:
            return Source(kind, given["file"].name[:200]), given["file"].read()
        location = given["location"].strip()
        if kind == SourceType.URL:
            digest = given["digest"].strip().lower().removeprefix("sha256:")
            return Source(kind, location, digest=digest), None
        return Source(kind, location, given["ref"].strip(), given["path"].strip().strip("/")), None


class ReviewForm(ConsoleForm):
    """The reviewer's decision. `digest` is what they saw, `objection` why it is not activated by default."""

    digest = forms.CharField(widget=forms.HiddenInput)
    activate = forms.BooleanField(label="Activate this release", required=False)
    reviewed = forms.BooleanField(
        label="I have read its code and trust it",
        required=False,
        help_text="It may then run at the sandbox level process, which holds back mistakes, not malice.",
    )

    def __init__(
        self, *args: Any, clashes: Sequence[Mapping[str, Any]], objection: str, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.initial.setdefault("activate", not objection)
        if objection:
            self["activate"].help_text = f"{objection} It stays out of use unless you tick this."
        for bound in (self["activate"], self["reviewed"]):
            bound.field.widget.attrs["class"] = "form-check-input"
        for tool in clashes:
            self.fields[f"name_{tool['name']}"] = forms.CharField(
                label=f"New name of {tool['name']}",
                max_length=64,
                initial=tool.get("called", ""),
                help_text=f"{tool.get('called', tool['name'])} belongs to {tool['clash']}.",
                widget=forms.TextInput(attrs={"class": "form-control"}),
            )

    @property
    def switches(self) -> list[Any]:
        """The boxes."""
        return [self["activate"], self["reviewed"]]

    @property
    def names(self) -> list[Any]:
        """The fields for new names."""
        return [self[name] for name in self.fields if name.startswith("name_")]

    def chosen_names(self) -> dict[str, str]:
        """Old name → new name."""
        return {
            name.removeprefix("name_"): value
            for name, value in self.cleaned_data.items()
            if name.startswith("name_")
        }
