"""The charts of the Overview: a part of it, and a page of its own without JavaScript."""

from dataclasses import asdict

from django.http import HttpRequest, HttpResponse

from core.pages import ConsoleView
from monitoring.series import WINDOWS, Step, series
from security.people import person_of

DEFAULT_HOURS = 24
WORDS = {1: "1 hour", 24: "24 hours", 168: "7 days"}


class SeriesPage(ConsoleView):
    """Calls, errors, p50 and p95 over the last hour, day or week."""

    permission = "execution.view_run"
    template = "monitoring/series.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page; with htmx its part."""
        given = request.GET.get("hours", "")
        hours = int(given) if given in {str(hours) for hours in WINDOWS} else DEFAULT_HOURS
        steps = series(hours, person_of(request))
        windows = [{"hours": each, "words": WORDS[each], "current": each == hours} for each in WINDOWS]
        told = {"hours": hours, "shown": WORDS[hours], "windows": windows, "steps": steps}
        return self.show({**told, "points": points(steps)})


def points(steps: list[Step]) -> dict[str, list[float | None]]:
    """The steps as columns for the charts; `at` in seconds since 1970."""
    rows = [{**asdict(step), "at": step.at.timestamp()} for step in steps]
    return {name: [row[name] for row in rows] for name in ("at", "calls", "errors", "p50_ms", "p95_ms")}
