"""The form of a rule, and of a try of it."""

from typing import Any

import orjson
from django import forms

from core.cel import EXPRESSION_MAX
from core.forms import ConsoleForm
from core.json.strict import StrictJSONError, loads
from registry.rules.services import MESSAGE_MAX, POINTER_MAX

_CODE = {"spellcheck": "false", "autocomplete": "off", "class": "form-control code-like"}


class RuleForm(ConsoleForm):
    """A rule; and the call that it is tried on, which is not kept."""

    expression = forms.CharField(
        label="Rule (CEL)",
        max_length=EXPRESSION_MAX,
        widget=forms.Textarea(attrs={"rows": 2, **_CODE}),
        help_text="True for a call that may go on, such as: arguments.amount <= 100",
    )
    message = forms.CharField(
        label="Told to callers", max_length=MESSAGE_MAX, help_text="What they are to do: At most 100 at once."
    )
    pointer = forms.CharField(
        label="Argument that it is about",
        max_length=POINTER_MAX,
        required=False,
        widget=forms.TextInput(attrs=_CODE),
        help_text="A JSON Pointer, such as /amount.",
    )
    arguments = forms.CharField(
        label="Try it on arguments",
        required=False,
        max_length=65_536,
        widget=forms.Textarea(attrs={"rows": 4, **_CODE}),
        help_text="A JSON object. Nothing is called.",
    )
    persona = forms.CharField(
        label="As persona",
        required=False,
        max_length=64,
        help_text="Its name and tier are what the rule sees.",
    )

    def clean_arguments(self) -> dict[str, Any]:
        """A JSON object, read as strictly as a call's."""
        try:
            found = loads((self.cleaned_data["arguments"].strip() or "{}").encode())
        except StrictJSONError as error:
            raise forms.ValidationError(f"This is no JSON: {error.message}") from error
        if not isinstance(found, dict):
            raise forms.ValidationError("Arguments are a JSON object: {…}.")
        return found

    @property
    def rule(self) -> dict[str, str]:
        """What is kept of it."""
        return {name: self.cleaned_data[name] for name in ("expression", "message", "pointer")}


def example_text(arguments: dict[str, Any]) -> str:
    """Arguments as the form begins with them."""
    return orjson.dumps(arguments, option=orjson.OPT_INDENT_2).decode()
