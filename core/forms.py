"""Forms of the console: the design's classes on each field, service errors at theirs, keys and versions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django import forms

from core.edits import Difference, Edited, StaleEdit, editing, version_sent
from core.errors import Postponed, ToolHubError
from core.submissions.pages import FIELD as KEY_FIELD
from core.submissions.pages import form_key_new

VERSION_FIELD = "form_version"
Made = TypeVar("Made")


def _look(widget: forms.Widget) -> str:
    if isinstance(widget, forms.CheckboxSelectMultiple):
        return "form-check-input"
    return "form-select" if isinstance(widget, forms.Select) else "form-control"


class ConsoleForm(forms.Form):
    """A form whose fields look like the design's and that can show what a service refused.

    Its template renders `{% hidden form %}`, which holds its one-time key. `status` is the HTTP status of the
    page that shows it again.
    """

    status = 422

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        for bound in self:
            bound.field.widget.attrs.setdefault("class", _look(bound.field.widget))
        if self.is_bound:
            self._mark()

    @property
    def hidden_values(self) -> dict[str, str]:
        """The hidden fields that are no fields of the form."""
        return {KEY_FIELD: self.data.get(KEY_FIELD) or form_key_new()}

    def _mark(self) -> None:
        """Colours the fields that are wrong; the first of them is where the reader goes."""
        wrong = [bound.field.widget.attrs for bound in self if bound.errors]
        for attrs in wrong:
            attrs["class"] = f"{attrs['class'].removesuffix(' is-invalid')} is-invalid"
        if wrong:
            for field in self.fields.values():
                field.widget.attrs.pop("autofocus", None)
            wrong[0]["autofocus"] = True

    def attempt(self, act: Callable[[], Made]) -> Made | None:
        """What `act` makes; None when the form is not valid or `act` refused, which the form then shows."""
        if not self.is_valid():
            return None
        try:
            return act()
        except Postponed:
            raise
        except ToolHubError as error:
            self.take(error)
            return None

    def take(self, error: ToolHubError) -> None:
        """Puts a service's error at the fields that its pointers name, else above the form."""
        placed = False
        for item in error.errors:
            name = item.get("pointer", "").removeprefix("/")
            if name in self.fields:
                self.add_error(name, item["message"])
                placed = True
        if not placed:
            self.add_error(None, error.message)
        self._mark()


@dataclass(frozen=True)
class BothValues:
    """A field that a stale save would have changed: its value now, and the one that was entered."""

    label: str
    now: str
    yours: str


class EditForm(ConsoleForm):
    """A form that edits a thing which exists. It holds the version that its reader saw.

    A save of another version is refused with 409: the form shows both values of each field, and the next save
    is of the version that it shows. A subclass whose fields are named otherwise than the state's says in
    `yours` what it sets.
    """

    def __init__(self, *args: Any, of: Edited[Any], **kwargs: Any) -> None:
        self.of = of
        self.stale: StaleEdit | None = None
        super().__init__(*args, **kwargs)

    @property
    def hidden_values(self) -> dict[str, str]:
        """Also the version: the one that was read until the reader was shown another."""
        read = self.stale.version if self.stale else self.data.get(VERSION_FIELD)
        return super().hidden_values | {VERSION_FIELD: read or self.of.version}

    def attempt(self, act: Callable[[], Made]) -> Made | None:
        """As every form, for the version that the form holds."""
        if not self.is_valid():
            return None
        try:
            with editing(self.of, version_sent(self.data.get(VERSION_FIELD)), self.yours()):
                return act()
        except Postponed:
            raise
        except StaleEdit as error:
            self.stale, self.status = error, error.known.status
        except ToolHubError as error:
            self.take(error)
            if error.code == "PRECONDITION_REQUIRED":
                self.status = error.known.status
        return None

    def yours(self) -> Mapping[str, Any]:
        """The values that the form sets, by the names of the thing's state."""
        return self.cleaned_data

    @property
    def both_values(self) -> list[BothValues]:
        """What a stale save would have changed, in the words of the form."""
        return [self._both(one) for one in self.stale.differences] if self.stale else []

    def _both(self, one: Difference) -> BothValues:
        field = self.fields.get(one.field)
        label = str(field.label or self[one.field].label) if field else one.field
        return BothValues(label, _words(field, one.now), _words(field, one.yours))


def _words(field: forms.Field | None, value: Any) -> str:
    """A value as the form's field shows it."""
    if isinstance(value, list | tuple):
        return ", ".join(_words(field, one) for one in value) or "none"
    choices = dict(getattr(field, "choices", None) or ())
    key = {True: "yes", False: ""}.get(value, value) if isinstance(value, bool) else value
    if key in choices:
        return str(choices[key])
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in (None, "") else str(value)
