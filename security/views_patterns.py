"""The page of output filters: patterns of what is taken out of every tool's output."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from core.edits import Edited
from core.forms import ConsoleForm
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from security.edits import OUTPUT_PATTERN
from security.models import OutputPattern
from security.patterns import LENGTH_MAX, NAME_MAX, pattern_add, pattern_remove
from security.people import person_of


class PatternForm(ConsoleForm):
    """A new pattern."""

    name = forms.CharField(max_length=NAME_MAX, help_text="What it finds: keys of the billing service.")
    pattern = forms.CharField(
        max_length=LENGTH_MAX,
        strip=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=r"A regular expression (RE2), such as: bill_[0-9a-f]{32}. It reads each text of an output.",
    )


class OutputPatterns(ConsoleView):
    """All patterns, by name."""

    permission = "security.view_outputpattern"
    template = "security/patterns.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page."""
        return self._show(PatternForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        """Adds one, or shows what is wrong."""
        form = PatternForm(request.POST)
        by = person_of(request)
        row = form.attempt(lambda: pattern_add(by=by, **form.cleaned_data))
        if row is None:
            return self._show(form, status=422)
        messages.success(request, f"{row.name}: it holds in every process within five seconds.")
        return redirect("output_patterns")

    def _show(self, form: PatternForm, status: int = 200) -> HttpResponse:
        rows = OutputPattern.objects.select_related("created_by")
        return self.show({"form": form, "rows": rows}, status=status)


class OutputPatternRemove(QuestionView):
    """Asks, then takes a pattern away."""

    permission = "security.delete_outputpattern"

    def about(self, row: int) -> Edited[Any] | None:
        """The pattern."""
        return OUTPUT_PATTERN.of(get_object_or_404(OutputPattern, pk=row))

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question."""
        pattern = get_object_or_404(OutputPattern, pk=row)
        touched = ["What it matches stands in results, errors and logs again, from now on.", pattern.pattern]
        return self.ask(
            Question(f"Take {pattern.name} away?", touched, "Take it away", reverse("output_patterns"))
        )

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act."""
        pattern = get_object_or_404(OutputPattern, pk=row)
        pattern_remove(by=person_of(request), row=pattern)
        messages.success(request, f"{pattern.name} is taken away.")
        return redirect("output_patterns")
