"""A form made from the schema of a package's settings."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib.humanize.templatetags.humanize import naturaltime

from core.errors import ToolHubError
from core.forms import EditForm
from core.json.strict import StrictJSONError, loads
from registry.config.selectors import Shown

_UNSET = ""
_REMOVE = "remove-"


class ConfigForm(EditForm):
    """One field for each setting; what is left empty is not set, and a secret that is left empty stays."""

    def __init__(self, settings: Sequence[Shown], *args: Any, **kwargs: Any) -> None:
        self._settings = {one.name: one for one in settings}
        # Django copies the form's fields from here.
        self.base_fields: dict[str, forms.Field] = {}  # type: ignore[misc]
        for one in settings:
            self.base_fields[one.name] = _field(one)
            if one.secret and one.is_set:
                choices = [(_UNSET, "keep it, or what is written above"), ("yes", "remove it")]
                label = f"{self.base_fields[one.name].label} from now on"
                self.base_fields[_REMOVE + one.name] = forms.ChoiceField(
                    label=label, choices=choices, required=False
                )
        kwargs.setdefault("prefix", "config")
        super().__init__(*args, **kwargs)

    def take(self, error: ToolHubError) -> None:
        """What is wrong within a setting is shown at the setting."""
        for each in error.errors:
            each["pointer"] = "/" + each["pointer"].split("/")[1] if each["pointer"] else ""
        super().take(error)

    def yours(self) -> dict[str, Any]:
        """The plain settings that the form sets; secrets are never shown."""
        plain = [name for name, one in self._settings.items() if not one.secret]
        given = {name: self.cleaned_data.get(name, _UNSET) for name in plain}
        return {name: None if value == _UNSET else value for name, value in given.items()}

    def changes(self) -> dict[str, Any]:
        """As the service takes it."""
        made: dict[str, Any] = {}
        for name, one in self._settings.items():
            given = self.cleaned_data.get(name, _UNSET)
            if one.secret:
                if given:
                    made[name] = given
                elif self.cleaned_data.get(_REMOVE + name):
                    made[name] = None
            elif given == _UNSET:
                if one.is_set:
                    made[name] = None
            elif not one.is_set or given != one.value:
                made[name] = given
        return made


def _field(one: Shown) -> forms.Field:
    about = one.about
    label = str(about.get("title") or one.name)
    common: dict[str, Any] = {"label": label, "required": False, "help_text": _help(one)}
    if one.secret:
        widget = forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"})
        return forms.CharField(**common, widget=widget, strip=False)
    initial: dict[str, Any] = {"initial": _text(one.value)} if one.is_set else {}
    if "enum" in about or about.get("type") == "boolean":
        return _Choice(about.get("enum", [True, False]), **common, **initial)
    if about.get("type") == "string":
        return forms.CharField(**common, initial=one.value if one.is_set else None, strip=False)
    small = about.get("type") in {"integer", "number"}
    return _Json(
        **common, **initial, widget=forms.TextInput() if small else forms.Textarea(attrs={"rows": 3})
    )


def _help(one: Shown) -> str:
    parts = [str(one.about.get("description", "")).strip()]
    if one.row is not None:
        parts.append(f"Set {naturaltime(one.row.set_at)} by {one.row.set_by}; it is not shown again.")
    elif one.secret:
        parts.append("Not set yet. It is kept in the vault and never shown.")
    if "default" in one.about:
        parts.append(f"Empty: {_text(one.about['default'])}.")
    if one.required and not one.is_set and "default" not in one.about:
        parts.append("The tools need it.")
    return " ".join(part for part in parts if part)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class _Json(forms.CharField):
    """A value written as JSON."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return _UNSET
        try:
            return loads(text.encode())
        except (StrictJSONError, UnicodeEncodeError) as error:
            raise forms.ValidationError("Write it as JSON: a number, [ ] or { }.") from error

    def has_changed(self, initial: Any, data: Any) -> bool:
        return True


class _Choice(forms.ChoiceField):
    """One of some JSON values."""

    def __init__(self, values: Sequence[Any], **kwargs: Any) -> None:
        self._values: Mapping[str, Any] = {_text(value): value for value in values}
        choices = [(_UNSET, "not set"), *((text, text) for text in self._values)]
        super().__init__(choices=choices, **kwargs)

    def clean(self, value: Any) -> Any:
        return self._values.get(super().clean(value), _UNSET)
