"""Figures about runs for pages of apps below this one; the templates bring the two together."""

from collections.abc import Iterable
from datetime import timedelta

from django import template
from django.template import Context
from django.utils import timezone

from execution.engine.selectors import runs_by_tool, runs_page
from execution.models import Run
from security.people import person_of

register = template.Library()


@register.simple_tag(takes_context=True)
def runs_day_counts(context: Context, names: Iterable[str]) -> dict[str, int]:
    """How many runs that the person sees each of the tools had in the last 24 hours; one query."""
    return runs_by_tool(timezone.now() - timedelta(hours=24), person_of(context["request"]), names)


@register.simple_tag(takes_context=True)
def runs_latest(context: Context, count: int, tool: str = "", persona: str = "") -> list[Run]:
    """The latest runs of a tool or persona that the person sees."""
    return list(runs_page({"tool": tool, "persona": persona}, person_of(context["request"]))[:count])
