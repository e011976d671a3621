"""Forms about runs."""

from typing import Any

from django import forms

from core.forms import ConsoleForm
from core.json.strict import StrictJSONError, loads
from execution.features.effects.undo import undo_declared
from execution.models import Run, Status
from execution.runs.verdicts import REASON_MAX, Verdict

_DONE = "The run becomes completed, with the result below if you know it. Its caller is told who said so."
_NOT_DONE = "The run becomes failed with the code NOT_DONE. Its caller may call again."
_COMPENSATE = (
    "The run becomes failed with the code COMPENSATED, and what its contract names for undoing is called on "
    "your responsibility, with the result below if you know it: {}. That happens also if nothing was done."
)
_ANEW = (
    "The run becomes failed, and the same request runs again as a new run on your responsibility. "
    "If the first one did its work after all, it is done twice."
)
# What each choice leads to, in words.
CONSEQUENCES = {
    Verdict.DONE: ("It was done", _DONE),
    Verdict.NOT_DONE: ("It was not done", _NOT_DONE),
    Verdict.COMPENSATE: ("Have it undone", _COMPENSATE),
    Verdict.ANEW: ("Run it anew", _ANEW),
}
_FAILED = "The run becomes failed with its own error. Its caller may call again."
_FAILED_ANEW = (
    "The run becomes failed with its own error, and its request is made again on your responsibility. "
    "What the first one did before it failed may be done twice."
)
# The same where it is known that the tool failed, and with what.
_OF_FAILED = {
    Verdict.NOT_DONE: ("It failed", _FAILED),
    Verdict.ANEW: ("Run it anew", _FAILED_ANEW),
}


def consequences_of(run: Run) -> dict[Verdict, tuple[str, str]]:
    """The choices there are for a run, each with its title and what it leads to."""
    declared = undo_declared(run.tool_version)
    undone = "; ".join(
        f"{effect['rollback']['tool']} ({which.description.rstrip('.')})" for which, effect in declared
    )
    found = {verdict: (title, text.format(undone)) for verdict, (title, text) in CONSEQUENCES.items()}
    if run.status == Status.AWAITING_PERSON:
        found |= _OF_FAILED
    if not declared:
        del found[Verdict.COMPENSATE]
    return found


class JSONField(forms.CharField):
    """JSON text, parsed as strictly as a call's; None when empty."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("widget", forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}))
        super().__init__(**{"max_length": 1_000_000, **options})

    def clean(self, value: Any) -> Any:
        """Raises ValidationError with the strict parser's words."""
        text = super().clean(value)
        if not text.strip():
            return None
        try:
            return loads(text.encode())
        except StrictJSONError as error:
            raise forms.ValidationError(f"This is no JSON: {error.message}") from error


class ResolveForm(ConsoleForm):
    """What became of a run that waits for a person."""

    verdict = forms.ChoiceField(
        label="What did you find?",
        choices=[(verdict.value, title) for verdict, (title, _) in CONSEQUENCES.items()],
        widget=forms.RadioSelect(attrs={"class": "form-check-input"}),
    )
    result = JSONField(
        label="Result",
        required=False,
        help_text="JSON, only where it was done, or is to be undone, and you know what it returned.",
    )
    reason = forms.CharField(
        label="Reason",
        max_length=REASON_MAX,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="How you know. It stands in the audit.",
    )
