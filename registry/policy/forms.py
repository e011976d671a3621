"""Forms about policy."""

from typing import Any

from django import forms
from django.urls import reverse

from core.errors import ToolHubError
from core.forms import ConsoleForm, EditForm
from registry.policy.named import persona_named, tier_named, tool_named
from security.models import User
from security.policy.catalogue import RISKS
from security.policy.limits import AMOUNT_MAX, WINDOW_MAX
from security.policy.models import Tier
from security.policy.services import REASON_MAX
from security.policy.tiers import DESCRIPTION_MAX
from security.safeguards import ISOLATION

FLAG_STATES = [
    ("off", "off: nobody may call tools that need it"),
    ("tiers", "tiers: personas whose tier has it"),
    ("on", "on: everybody"),
]
_UNTIL = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")


class PickingForm(ConsoleForm):
    """A form that names personas and tools, with pickers for both."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in {"persona", "tool"} & set(self.fields):
            self.fields[name].widget.attrs |= {
                "autocomplete": "off",
                "spellcheck": "false",
                "list": f"{name}-options",
                "hx-get": reverse("simulator_options", args=[name]),
                "hx-trigger": "focus once, input changed delay:200ms",
                "hx-target": f"#{name}-options",
            }

    def wishes(self, by: User) -> dict[str, Any]:
        """What the services take. Raises InvalidRequest for what the person does not see."""
        given = dict(self.cleaned_data)
        if "persona" in given:
            given["persona"] = persona_named(given["persona"], by)
        if "tool" in given:
            given["tool"] = tool_named(given["tool"], by)
        return given


class PauseForm(PickingForm):
    """What is paused, and why."""

    persona = forms.CharField(max_length=64, required=False, help_text="Pauses all of its calls.")
    tool = forms.CharField(
        max_length=64, required=False, help_text="Pauses all calls of it. Neither: the whole hub."
    )
    reason = forms.CharField(max_length=REASON_MAX, help_text="Callers are told. It stands in the audit.")
    expires_at = forms.DateTimeField(
        label="Ends (UTC)", required=False, widget=_UNTIL, help_text="Empty: until somebody ends it."
    )


class RestrictionForm(PickingForm):
    """What is denied, and why."""

    capability = forms.CharField(
        max_length=120,
        required=False,
        help_text="Denies what needs it: file:delete, or file:* for all of it.",
    )
    persona = forms.CharField(max_length=64, required=False, help_text="Empty: every persona.")
    tool = forms.CharField(max_length=64, required=False, help_text="Empty: every tool.")
    reason = forms.CharField(max_length=REASON_MAX, help_text="Callers are told. It stands in the audit.")
    expires_at = forms.DateTimeField(
        label="Ends (UTC)", required=False, widget=_UNTIL, help_text="Empty: until somebody lifts it."
    )


def _tiers() -> list[tuple[str, str]]:
    return [("", "none"), *((name, name) for name in Tier.objects.values_list("name", flat=True))]


class TierField(forms.ChoiceField):
    """A tier by its name, or none. The tiers are read once for each form."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "TierField":
        made: TierField = super().__deepcopy__(memo)  # type: ignore[misc]
        made.choices = _tiers()
        return made


class StandingForm(EditForm):
    """What holds for a persona as a whole."""

    tier = TierField(required=False, help_text="What it is granted together with others.")
    isolation = forms.ChoiceField(
        label="Least isolation",
        required=False,
        choices=[(word, word or "as each tool asks") for word in ISOLATION],
        help_text="strict and paranoid refuse built-in tools, which run without a sandbox.",
    )

    def yours(self) -> dict[str, Any]:
        """The values that the form sets."""
        return {**self.cleaned_data, "tier": self.cleaned_data["tier"] or None}


class _LimitFields(ConsoleForm):
    """The values of a limit that can be changed later."""

    kind = forms.ChoiceField(
        choices=[("quota", "quota: what may be used up"), ("rate", "rate: how quickly")],
        help_text="Calls beyond a quota fail with QUOTA_EXCEEDED, calls beyond a rate with RATE_LIMIT.",
    )
    amount = forms.IntegerField(min_value=1, max_value=AMOUNT_MAX)
    window_s = forms.IntegerField(
        label="In (seconds)",
        min_value=1,
        max_value=WINDOW_MAX,
        initial=86_400,
        help_text="1 is a second, 60 a minute, 86400 a day. The window begins with its first call.",
    )


class LimitForm(PickingForm, _LimitFields):
    """A new limit: what it counts, and how much it allows."""

    persona = forms.CharField(max_length=64, required=False, help_text="Counts its calls.")
    tier = TierField(required=False, help_text="Counts those of each persona on it.")
    tool = forms.CharField(
        max_length=64, required=False, help_text="Only calls of it. Alone: of all personas together."
    )
    measure = forms.ChoiceField(
        choices=[
            ("calls", "calls"),
            ("seconds", "seconds that runs take"),
            ("bytes", "bytes of arguments and results"),
        ]
    )
    field_order = ("persona", "tier", "tool", "kind", "amount", "measure", "window_s")

    def wishes(self, by: User) -> dict[str, Any]:
        """Return the service's arguments. Raises InvalidRequest for what the person does not see."""
        given = super().wishes(by)
        return {**given, "tier": tier_named(given["tier"])}


class LimitEditForm(_LimitFields, EditForm):
    """A limit that exists; what it counts stays."""


class CapabilityForm(EditForm):
    """What a capability means."""

    description = forms.CharField(
        max_length=300, required=False, help_text="What whoever holds it can do, for those who grant it."
    )
    risk = forms.ChoiceField(choices=[(word, word) for word in RISKS], help_text="How much harm it can do.")


class LinesField(forms.CharField):
    """Names, one a line."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("widget", forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}))
        super().__init__(**{"max_length": 20_000, "required": False, **options})

    def clean(self, value: Any) -> Any:
        """The lines that hold something."""
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        """Lines again."""
        return "\n".join(value) if isinstance(value, list) else value


class _TierFields(ConsoleForm):
    """What a tier grants."""

    description = forms.CharField(max_length=DESCRIPTION_MAX, required=False, help_text="Who it is for.")
    capabilities = LinesField(help_text="One a line: a, a:b, a.b, a:* or *.")
    flags = LinesField(help_text="Names of feature flags, one a line.")

    def take(self, error: ToolHubError) -> None:
        """Puts what is wrong with one of several names at their field."""
        for item in error.errors:
            item["pointer"] = "/" + item.get("pointer", "").split("/")[1]
        super().take(error)


class TierForm(_TierFields, EditForm):
    """What a tier grants."""

    def yours(self) -> dict[str, Any]:
        """The values that the form sets; lists as the tier keeps them."""
        given = self.cleaned_data
        lists = {name: sorted(set(given[name])) for name in ("capabilities", "flags")}
        return {"description": given["description"], **lists}


class NewTierForm(_TierFields):
    """A new tier."""

    name = forms.CharField(max_length=64, help_text="Small letters, digits and hyphens. It stays as it is.")
    field_order = ("name",)


class FlagForm(ConsoleForm):
    """A new feature flag."""

    name = forms.CharField(max_length=64, help_text="Small letters, digits and hyphens. It stays as it is.")
    description = forms.CharField(max_length=DESCRIPTION_MAX, required=False, help_text="What it opens.")
    state = forms.ChoiceField(choices=FLAG_STATES)


class FlagStateForm(EditForm):
    """Where a flag stands."""

    state = forms.ChoiceField(choices=FLAG_STATES)


class FlagToolForm(PickingForm, EditForm):
    """A tool that needs the flag."""

    tool = forms.CharField(max_length=64)

    def yours(self) -> dict[str, Any]:
        """Nothing that stands against a value now: it adds or takes away."""
        return {}
