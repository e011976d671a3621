"""The page of components, for who builds pages: each as it is used, with real markup. In development only."""

from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from core.forms import ConsoleForm
from core.lists import Sorting
from core.pages import ConsoleView, Page
from core.questions import Question
from core.sentences import Sentence


class SampleForm(ConsoleForm):
    """A form that came back with an error at a field."""

    name = forms.CharField(max_length=20, help_text="What it is for.")
    kind = forms.ChoiceField(choices=[("one", "One"), ("two", "Two")])
    notes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))


@dataclass(frozen=True)
class SampleRow:
    """A row of the sample table."""

    pk: str
    tool: str
    status: str
    duration_ms: float | None
    minutes: int

    @property
    def created_at(self) -> Any:
        """When it was made."""
        return timezone.now() - timedelta(minutes=self.minutes)

    @property
    def persona(self) -> SimpleNamespace:
        """Who called."""
        return SimpleNamespace(name="researcher")


ROWS = (
    SampleRow("01890a5d-ac96-774b-bcce-b302099a8057", "echo", "completed", 0.42, 1),
    SampleRow("01890a5d-ac96-774b-bcce-b302099a8058", "http_get", "failed", 1834.0, 12),
    SampleRow("01890a5d-ac96-774b-bcce-b302099a8059", "run_python", "running", None, 95),
)


@dataclass(frozen=True)
class SampleChange:
    """A difference between two releases."""

    kind: str
    tool: str
    pointer: str
    before: Any = None
    after: Any = None
    data: dict[str, Any] = field(default_factory=dict)


class StylePage(ConsoleView):
    """Every component with its use."""

    template = "core/style.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page; 404 unless TOOLHUB_STYLE_PAGE or TOOLHUB_DEBUG is on."""
        if not settings.STYLE_PAGE:
            raise Http404
        return self.show(samples())


def samples() -> dict[str, Any]:
    """What the components show on their page."""
    now = timezone.now()
    form = SampleForm({"name": "far too long for twenty letters", "kind": "one", "notes": ""})
    return {
        "filters": {"q": "", "status": "failed", "persona": ""},
        "statuses": [("completed", "completed"), ("failed", "failed")],
        "rows": ROWS,
        "page": Page([], "newer", "older"),
        "ways": ("Newer", "Older"),
        "sorting": Sorting("made", "pk", True),
        "parameters": [
            SimpleNamespace(path="city", type="string", required=True, description="Where."),
            SimpleNamespace(path="days", type="integer", has_default=True, default=3, constraints="1 to 14"),
        ],
        "decision": SimpleNamespace(
            checks=[
                SimpleNamespace(name="assigned", verdict="pass", reason="researcher sees forecast."),
                SimpleNamespace(
                    name="capabilities",
                    verdict="fail",
                    reason="network:example.org is not held.",
                    remedy="Grant it.",
                    who="an admin",
                ),
            ]
        ),
        "states": ["completed", "failed", "running", "pending", "outcome_unknown", "cancelled", "off"],
        "form": form,
        "empty_form": SampleForm(auto_id="empty_%s"),
        "question": Question(
            "Cancel this run?",
            ["It is running: what it has done is not undone."],
            "Cancel the run",
            "/style/",
        ),
        "words": [
            {"name": "fetch", "title": "Fetch", "step": SimpleNamespace(status="done")},
            {"name": "check", "title": "Check", "step": SimpleNamespace(status="running")},
            {"name": "review", "title": "Review", "step": None},
        ],
        "lines": [
            SimpleNamespace(at=now, step="fetch", text="Cloned at 4f1c2a9."),
            SimpleNamespace(at=now, step="check", text="3 tools are described."),
        ],
        "steps": [
            {
                "event": SimpleNamespace(seq=1, at=now),
                "parts": Sentence("Claimed by the worker {worker}").parts({"worker": "a"}),
                "data": {"cpu_ms": 3.2},
            },
            {"event": SimpleNamespace(seq=2, at=now), "parts": Sentence("Completed").parts({}), "data": {}},
        ],
        "careful": [
            SampleChange("capability", "forecast", "/requiredCapabilities/0", None, "network:example.org")
        ],
        "calm": [SampleChange("description", "forecast", "/description", "Weather", "Weather of a place")],
        "value": {
            "city": "Kathmandu",
            "days": [{"high": 21.5, "rain": None}, {"high": 19, "rain": {"mm": 4}}],
            "ok": True,
        },
    }
