"""Pages of schedules."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.errors import InvalidRequest
from core.lists import ListView
from core.pages import ConsoleView, Page
from core.questions import Question, QuestionView, switch_wanted
from execution.entry.schedules.edits import SCHEDULE
from execution.entry.schedules.forms import ScheduleForm
from execution.entry.schedules.selectors import options_of, schedule_of, schedules_page, schedules_seen
from execution.entry.schedules.services import schedule_create, schedule_delete, schedule_switch
from execution.entry.schedules.times import in_words
from execution.models import Schedule
from security.models import Persona, User
from security.people import person_of
from security.sharing.reach import within


class SchedulesList(ListView[Schedule]):
    """Every schedule, newest first."""

    permission = "execution.view_schedule"
    template = "execution/schedules_list.html"
    heading, noun, search = "Schedules", "schedule", "Name, tool or persona"
    linked = ("state",)
    choices: ClassVar = {"state": ("refused",)}

    def rows(self, params: Mapping[str, str]) -> QuerySet[Schedule]:
        """Narrowed by `q` and `state`."""
        return schedules_page(params, person_of(self.request))

    def more(self, page: Page[Schedule]) -> dict[str, Any]:
        """The rows with their times in words, and what the person may do with each."""
        person, keys = person_of(self.request), [row.pk for row in page.rows]
        may = {act: _keys(person, f"execution.{act}_schedule", keys) for act in ("change", "delete")}
        rows = [
            {
                "schedule": row,
                "words": in_words(row.cron),
                "may_change": row.pk in may["change"],
                "may_delete": row.pk in may["delete"],
            }
            for row in page.rows
        ]
        return {"rows": rows, "may_add": person.holds("execution.add_schedule")}


def _keys(person: User, permission: str, among: list[int]) -> set[int]:
    """Those of the schedules on whose tool and persona the person holds the permission."""
    return set(schedules_seen(person, permission).filter(pk__in=among).values_list("pk", flat=True))


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
        schedule = form.attempt(lambda: self._make(request, form.cleaned_data))
        if schedule is None:
            return self.show({"form": form}, status=422)
        messages.success(request, f"{schedule.name} is scheduled.")
        return redirect("schedules")

    def _make(self, request: HttpRequest, wishes: dict[str, Any]) -> Schedule:
        return schedule_create(
            by=person_of(request), **{**wishes, "persona": _persona(request, wishes["persona"])}
        )


class ScheduleOptions(ConsoleView):
    """What the pickers of the form propose for what is typed."""

    permission = "execution.add_schedule"
    template = "components/options.html"

    def get(self, request: HttpRequest, field: str) -> HttpResponse:
        """The options."""
        return self.show({"options": options_of(field, request.GET.get(field, ""), person_of(request))})


def _persona(request: HttpRequest, name: str) -> Persona:
    rows = Persona.objects.filter(name=name.strip())
    persona = within(person_of(request), rows, ScheduleNew.permission).first()
    if persona is None:
        message = f"There is no persona {name[:64]!r}."
        raise InvalidRequest(message, errors=[{"pointer": "/persona", "message": message}])
    return persona


class ScheduleSwitch(QuestionView):
    """Asks, then switches a schedule on or off."""

    permission = "execution.change_schedule"

    def about(self, row: int) -> Edited[Any] | None:
        """The schedule."""
        return SCHEDULE.of(schedule_of(row, person_of(self.request), self.permission))

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question, with what it touches."""
        schedule = schedule_of(row, person_of(request), self.permission)
        on = not schedule.enabled
        effect = (
            f"It calls {schedule.tool} for {schedule.persona.name} again, from its next due time on."
            if on
            else "It makes no call until somebody switches it on; what is due meanwhile is not made up for."
        )
        touched = [effect, "Its runs stay."]
        return self.ask(Question.switch(schedule.name, on=on, touched=touched, back=reverse("schedules")))

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act: what the question asked, even when somebody else was faster."""
        on = switch_wanted(request)
        schedule = schedule_of(row, person_of(request), self.permission)
        schedule_switch(by=person_of(request), schedule=schedule, on=on)
        messages.success(request, f"{schedule.name} is switched {'on' if on else 'off'}.")
        return redirect("schedules")


class ScheduleDelete(QuestionView):
    """Asks, then deletes a schedule."""

    permission = "execution.delete_schedule"

    def about(self, row: int) -> Edited[Any] | None:
        """The schedule."""
        return SCHEDULE.of(schedule_of(row, person_of(self.request), self.permission))

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question."""
        schedule = schedule_of(row, person_of(request), self.permission)
        touched = [
            f"{schedule.tool} is no longer called for {schedule.persona.name} by the clock.",
            "It cannot be brought back; its runs and its audit stay.",
        ]
        title = f"Delete the schedule {schedule.name}?"
        return self.ask(Question(title, touched, "Delete it", reverse("schedules")))

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act."""
        schedule = schedule_of(row, person_of(request), self.permission)
        schedule_delete(by=person_of(request), schedule=schedule)
        messages.success(request, f"{schedule.name} is deleted.")
        return redirect("schedules")
