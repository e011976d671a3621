"""Forms about collections."""

from django import forms
from django.urls import reverse

from core.forms import ConsoleForm, EditForm
from registry.collections.services import DESCRIPTION_MAX, MEMBERS_MAX


class _Described(ConsoleForm):
    """What a collection is for."""

    description = forms.CharField(
        required=False,
        max_length=DESCRIPTION_MAX,
        help_text="Which agents it is for, and why these tools belong together.",
    )


class CollectionForm(_Described, EditForm):
    """What a collection is for."""


class NewCollectionForm(_Described):
    """A new collection, perhaps with its tools."""

    name = forms.CharField(
        max_length=64, help_text="A letter, then letters, digits, - and _. It stays as it is."
    )
    tools = forms.CharField(
        required=False,
        max_length=65 * MEMBERS_MAX,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text="Names of tools, one a line. They can be added later, too.",
    )
    field_order = ("name", "description", "tools")

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}
        if not self.is_bound:
            self.fields["name"].widget.attrs["autofocus"] = True


class MembersForm(ConsoleForm):
    """More tools."""

    tools = forms.CharField(
        label="Tools",
        max_length=65 * MEMBERS_MAX,
        widget=forms.TextInput(attrs={"list": "addable", "autocomplete": "off", "spellcheck": "false"}),
        help_text="One name, or several with spaces between.",
    )

    def __init__(self, *args: object, collection: str, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["tools"].widget.attrs |= {
            "hx-get": reverse("collection_addable", args=[collection]),
            "hx-trigger": "focus once, input changed delay:200ms",
            "hx-target": "#addable",
            "hx-swap": "innerHTML",
        }
