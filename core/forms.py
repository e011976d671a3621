"""Forms of the console: the design's classes on each field, and service errors at theirs."""

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms

from core.errors import Postponed, ToolHubError

Made = TypeVar("Made")


def _look(widget: forms.Widget) -> str:
    if isinstance(widget, forms.CheckboxSelectMultiple):
        return "form-check-input"
    return "form-select" if isinstance(widget, forms.Select) else "form-control"


class ConsoleForm(forms.Form):
    """A form whose fields look like the design's and that can show what a service refused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        for bound in self:
            bound.field.widget.attrs.setdefault("class", _look(bound.field.widget))
        if self.is_bound:
            self._mark()

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
