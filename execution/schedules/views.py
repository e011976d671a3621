"""Pages of schedules."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.errors import InvalidRequest, ToolHubError
from core.pages import ConsoleView, page_read
from execution.models import Schedule
from execution.schedules.forms import ScheduleForm
from execution.schedules.selectors import schedule_of, schedules_page
from execution.schedules.services import schedule_create, schedule_delete, schedule_switch
from execution.schedules.times import in_words
from security.models import Persona
from security.people import person_of


class SchedulesList(ConsoleView):
    """Every schedule, newest first."""

    permission = "execution.view_schedule"
    template = "execution/schedules_list.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The list, narrowed by `q`."""
        page = page_read(schedules_page(request.GET), request.GET)
        q = request.GET.get("q", "")
        rows = [{"schedule": schedule, "words": in_words(schedule.cron)} for schedule in page.rows]
        return self.show({"page": page, "rows": rows, "filters": {"q": q}, "filtered": bool(q)})


class ScheduleNew(ConsoleView):
    """Makes a schedule."""

    permission = "execution.add_schedule"
    template = "execution/schedule_new.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The empty form; `?tool=` and `?persona=` fill it in."""
        given = {name: request.GET[name] for name in ("tool", "persona") if name in request.GET}
        return self.show({"form": ScheduleForm(initial=given)})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Makes it, or shows what is wrong."""
        form = ScheduleForm(request.POST)
        if form.is_valid():
            try:
                wishes: dict[str, Any] = {
                    **form.cleaned_data,
                    "persona": _persona(form.cleaned_data["persona"]),
                }
                schedule = schedule_create(by=person_of(request), **wishes)
            except ToolHubError as error:
                form.take(error)
            else:
                messages.success(request, f"{schedule.name} is scheduled.")
                return redirect("schedules")
        return self.show({"form": form}, status=422)


def _persona(name: str) -> Persona:
    persona = Persona.objects.filter(name=name.strip()).first()
    if persona is None:
        message = f"There is no persona {name[:64]!r}."
        raise InvalidRequest(message, errors=[{"pointer": "/persona", "message": message}])
    return persona


class ScheduleSwitch(ConsoleView):
    """Asks, then switches a schedule on or off."""

    permission = "execution.change_schedule"
    template = "components/confirm.html"

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question, with what it touches."""
        schedule = schedule_of(row)
        off = schedule.enabled
        effect = (
            "It makes no call until somebody switches it on; what is due meanwhile is not made up for."
            if off
            else f"It calls {schedule.tool} for {schedule.persona.name} again, from its next due time on."
        )
        return self.show(
            {
                "title": f"Switch {schedule.name} {'off' if off else 'on'}?",
                "touched": [effect, "Its runs stay."],
                "action": "Switch it off" if off else "Switch it on",
                "calm": not off,
                "hidden": {"on": "no" if off else "yes"},
                "back": reverse("schedules"),
            }
        )

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act: what the question asked, even when somebody else was faster."""
        on = request.POST.get("on") == "yes"
        schedule = schedule_of(row)
        schedule_switch(by=person_of(request), schedule=schedule, on=on)
        messages.success(request, f"{schedule.name} is switched {'on' if on else 'off'}.")
        return redirect("schedules")


class ScheduleDelete(ConsoleView):
    """Asks, then deletes a schedule."""

    permission = "execution.delete_schedule"
    template = "components/confirm.html"

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question."""
        schedule = schedule_of(row)
        return self.show(
            {
                "title": f"Delete the schedule {schedule.name}?",
                "touched": _touched(schedule),
                "action": "Delete it",
                "back": reverse("schedules"),
            }
        )

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act."""
        schedule = schedule_of(row)
        schedule_delete(by=person_of(request), schedule=schedule)
        messages.success(request, f"{schedule.name} is deleted.")
        return redirect("schedules")


def _touched(schedule: Schedule) -> list[str]:
    return [
        f"{schedule.tool} is no longer called for {schedule.persona.name} by the clock.",
        "It cannot be brought back; its runs and its audit stay.",
    ]
