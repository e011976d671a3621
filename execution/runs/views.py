"""Pages of runs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from audit.selectors import data_of, events_told, run_events
from core.edits import Edited
from core.lists import HOURS, ListView
from core.pages import ConsoleView, Page
from core.questions import Question, QuestionView
from core.sentences import Part
from execution.engine.brief import attempts_of, events_of
from execution.engine.events import Step, event_view
from execution.engine.selectors import (
    STATUS_GROUPS,
    run_detail,
    runs_narrowed,
    runs_page,
    runs_seen,
    runs_stoppable,
)
from execution.engine.states import FINAL, UNRESOLVED
from execution.engine.submit import run_cancel
from execution.event_kinds import RUN_ACCEPTED
from execution.features.approvals.selectors import approval_of
from execution.features.artefacts.models import Artefact
from execution.features.callbacks.state import callback_of
from execution.features.recovery.view import recovery_view
from execution.memory.selectors import session_of
from execution.models import Run, RunEvent, Status
from execution.run_events import LOGGED, PRINTED, RUN_EVENTS
from execution.runs.bulk_cancel import BATCH, runs_cancel, runs_stoppable_among
from execution.runs.replay import replayed_by
from security.models import User
from security.people import person_of
from security.permissions import actor_of
from security.sharing.perms import PermsOn

REPEATS_SHOWN, CHILDREN_SHOWN = 10, 50
# Characters of what the tool printed, and entries of what it logged.
PRINTED_SHOWN, LOGGED_SHOWN = 8_000, 200
# What runs no longer: there is nothing to stop.
STOPPED = FINAL | {Status.OUTCOME_UNKNOWN}


class RunsList(ListView[Run]):
    """Every run, newest first; the first page follows what happens."""

    permission = "execution.view_run"
    template = "execution/runs_list.html"
    heading, noun, search = "Runs", "run", "Id, tool or persona"
    filters = ("q", "tool", "persona", "status", "since")
    linked = ("session",)
    choices: ClassVar = {"status": (*STATUS_GROUPS, *(one.value for one in Status))}
    live = True
    sorts = {"made": "pk"}

    def rows(self, params: Mapping[str, str]) -> QuerySet[Run]:
        """Narrowed by `filters`."""
        return runs_page(params, person_of(self.request))

    def more(self, page: Page[Run]) -> dict[str, Any]:
        """The statuses, groups of them first, and times to choose from."""
        statuses = [(status.value, status.value.replace("_", " ")) for status in Status]
        given = given_filters(self.request.GET)
        cancel_all = f"{reverse('runs_cancel_all')}?{urlencode(given)}"
        groups = [(group, group) for group in STATUS_GROUPS]
        return {"statuses": [*groups, *statuses], "hours": HOURS, "cancel_all": cancel_all}


def given_filters(params: Mapping[str, str]) -> dict[str, str]:
    """Return the filters of the list that are set."""
    names = (*RunsList.filters, *RunsList.linked)
    return {name: params[name] for name in names if params.get(name)}


class RunDetail(ConsoleView):
    """One run; follows it until it has its outcome."""

    permission = "execution.view_run"
    template = "execution/run_detail.html"

    def get(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """The page."""
        person = person_of(request)
        run = run_detail(run_id, person)
        perms = PermsOn(person, run.persona, run.tool_version.tool)
        return self.show({"run": run, "perms": perms, **run_context(run, person)})


def run_context(run: Run, person: User) -> dict[str, Any]:
    """What the run's page shows beside its row: its events, the ledger's, and whether it may be cancelled."""
    ledger = list(run_events(run.pk)) if person.has_perm("audit.view_event") else []
    children = runs_seen(person).filter(parent=run)
    events = events_of(run)
    return {
        "steps": [step_of(event, run) for event in events],
        "printed": printed_of(events),
        "logged": logged_of(events),
        "attempts": attempts_of(run),
        "artefacts": list(Artefact.objects.filter(run=run)),
        "callback": callback_of(run),
        "approval": approval_of(run),
        "session": session_of(run.persona_id, run.session),
        "children": list(children.select_related("persona", "tool_version").order_by("-pk")[:CHILDREN_SHOWN]),
        "ledger": events_told(ledger),
        "allowed_by": data_of(ledger, RUN_ACCEPTED).get("allowed_by", []),
        "finished": run.status in FINAL,
        "unresolved": run.status in UNRESOLVED,
        "recovery": recovery_view(run),
        "cancellable": run.status not in STOPPED and run.cancel_asked_at is None,
        "repeatable": run.status in FINAL and run.payload_expired_at is None,
        "repeats": list(run.repeats.order_by("pk").values_list("pk", flat=True)[:REPEATS_SHOWN]),
        "comparison": compared.as_dict() if (compared := replayed_by(run)) else None,
        "hashes": {
            "arguments hash": bytes(run.arguments_hash).hex(),
            "result hash": bytes(run.result_hash).hex() if run.result_hash else "",
            "outcome leaf": bytes(run.outcome_leaf).hex() if run.outcome_leaf else "",
        },
    }


def printed_of(events: Sequence[RunEvent | Step]) -> list[dict[str, Any]]:
    """What the tool printed, by attempt and stream in order; of much, the last texts."""
    left, shown = PRINTED_SHOWN, []
    for event in reversed(events):
        if event.kind == PRINTED and "text" in event.data:
            text = event.data["text"]
            shown.append({**event.data, "text": text[-left:], "more": len(text) > left})
            left -= len(text)
            if left <= 0:
                break
    return shown[::-1]


def logged_of(events: Sequence[RunEvent | Step]) -> dict[str, Any]:
    """What the tool logged, in order; of much, the last entries, and how many are not shown."""
    told = [event.data for event in events if event.kind == LOGGED and "entries" in event.data]
    entries = [
        {**one, "at": datetime.fromisoformat(one["at"]), "attempt": data["attempt"]}
        for data in told
        for one in data["entries"]
    ]
    left_out = sum(data.get("left_out", 0) for data in told) + max(0, len(entries) - LOGGED_SHOWN)
    return {"entries": entries[-LOGGED_SHOWN:], "left_out": left_out}


def step_of(event: RunEvent | Step, run: Run) -> dict[str, Any]:
    """An event in words: its sentence, and of its data what neither that nor the rest of the page shows."""
    data = event_view(event, run)["data"]
    kind = RUN_EVENTS.get(event.kind)
    parts = kind.sentence.parts(data) if kind else [Part(event.kind)]
    shown = {"params", "result", "error", "toolName", "text", "entries", *(part.name for part in parts)}
    more = {name: value for name, value in data.items() if name not in shown}
    return {"event": event, "parts": parts, "data": more}


class RunCancel(QuestionView):
    """Asks, then cancels."""

    permission = "execution.change_run"

    def about(self, run_id: UUID) -> Edited[Any] | None:
        """A run goes on by itself, and is to stop as far as it has come."""
        return None

    def get(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """The question."""
        run = run_detail(run_id, person_of(request), self.permission)
        touched = [f"The run of {run.tool} by {run.persona.name}, {run.status.replace('_', ' ')} now."]
        if run.status == Status.RUNNING:
            touched.append("It is running: what it has done already is not undone.")
        back = reverse("run", args=[run.pk])
        return self.ask(Question("Cancel this run?", touched, "Cancel the run", back, leave="Keep it"))

    def post(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """The act."""
        run = run_detail(run_id, person_of(request), self.permission)
        if run_cancel(by=actor_of(person_of(request)), run=run):
            messages.success(request, "The run was asked to stop.")
        else:
            messages.info(request, "The run had its outcome already; nothing was changed.")
        return redirect("run", run_id=run.pk)


class RunsCancel(QuestionView):
    """Asks, then cancels several runs that were chosen on their list."""

    permission = "execution.change_run"

    def about(self) -> Edited[Any] | None:
        """As for one run."""
        return None

    def get(self, request: HttpRequest) -> HttpResponse:
        """The question, with each run that can still be stopped."""
        runs = runs_stoppable(request.GET.getlist("pick"), person_of(request))
        if not runs:
            messages.info(request, "None of the chosen runs can still be stopped; nothing was changed.")
            return redirect("runs")
        touched = [f"{run.tool} by {run.persona.name}, {run.status.replace('_', ' ')} now." for run in runs]
        touched.append("What a running one has done already is not undone.")
        title = f"Cancel {len(runs)} run{'s' if len(runs) != 1 else ''}?"
        picked = ",".join(str(run.pk) for run in runs)
        what = "them" if len(runs) != 1 else "it"
        return self.ask(
            Question(
                title,
                touched,
                f"Cancel {what}",
                reverse("runs"),
                leave=f"Keep {what}",
                hidden={"picked": picked},
            )
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        """The act."""
        person = person_of(request)
        by = actor_of(person)
        runs = runs_stoppable(request.POST.get("picked", "").split(","), person)
        asked = sum(run_cancel(by=by, run=run) for run in runs)
        messages.success(request, f"{asked} run{'s were' if asked != 1 else ' was'} asked to stop.")
        return redirect("runs")


# Matching runs are counted no further than this.
COUNTED = 10_000


class RunsCancelAll(QuestionView):
    """Asks, then cancels every run that matches the filters of the list."""

    permission = "execution.change_run"

    def about(self) -> Edited[Any] | None:
        """As for one run."""
        return None

    def get(self, request: HttpRequest) -> HttpResponse:
        """The question, with the filters and the number of runs."""
        given = given_filters(request.GET)
        back = f"{reverse('runs')}?{urlencode(given)}"
        count = runs_stoppable_among(self._matching(given))[: COUNTED + 1].count()
        if not count:
            messages.info(request, "No matching run can still be stopped; nothing was changed.")
            return redirect(back)
        named = f"more than {COUNTED:,}" if count > COUNTED else f"{count:,}"
        runs = f"{named} run{'s' if count != 1 else ''}"
        touched = [f"{name.capitalize()}: {_shown(name, value)}" for name, value in given.items()]
        touched = touched or ["No filter is set: every run that you may cancel matches."]
        touched.append("Runs that wait end now. Running ones are stopped; their effects are not undone.")
        if count > BATCH:
            touched.append(f"One request cancels {BATCH} runs, the oldest first. Repeat it for the rest.")
        action = f"Cancel {runs if count <= BATCH else f'{BATCH} runs'}"
        return self.ask(Question(f"Cancel {runs}?", touched, action, back, leave="Keep them", hidden=given))

    def post(self, request: HttpRequest) -> HttpResponse:
        """The act."""
        given = given_filters(request.POST)
        by = actor_of(person_of(request))
        done = runs_cancel(by=by, among=self._matching(given), filters=given)
        rest = " More runs match: repeat it for the rest." if done.more else ""
        if done.failed:
            rest += f" {done.failed} could not be asked: the log of the hub says why."
        messages.success(
            request, f"{done.asked} run{'s were' if done.asked != 1 else ' was'} asked to stop.{rest}"
        )
        return redirect(f"{reverse('runs')}?{urlencode(given)}")

    def _matching(self, given: Mapping[str, str]) -> QuerySet[Run]:
        return runs_narrowed(runs_seen(person_of(self.request), self.permission), given)


def _shown(name: str, value: str) -> str:
    """A filter's value as the list shows it."""
    return dict(HOURS).get(value, f"last {value} hours") if name == "since" else value.replace("_", " ")
