"""Pages on which a person decides about a run that is over, or whose outcome is unknown."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.errors import ToolHubError
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from core.submissions.pages import refused
from execution.engine.selectors import run_detail
from execution.engine.states import UNRESOLVED
from execution.models import Run, Status
from execution.runs.again import run_retry_by
from execution.runs.forms import ResolveForm, consequences_of
from execution.runs.replay import repeats_safely, run_replay_by
from execution.runs.resolve import run_resolve
from execution.runs.verdicts import WITH_RESULT, Verdict
from security.people import person_of


class RunResolve(ConsoleView):
    """Asks a person what became of a run that waits for one."""

    permission = "execution.resolve_run"
    template = "execution/run_resolve.html"

    def get(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """The form; back to the run when there is nothing to resolve."""
        run = run_detail(run_id, person_of(request), self.permission)
        if run.status not in UNRESOLVED:
            messages.info(request, "Nothing is to be resolved here.")
            return redirect("run", run_id=run.pk)
        return self._show(run, ResolveForm())

    def post(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """Resolves it, or shows what is wrong."""
        run = run_detail(run_id, person_of(request), self.permission)
        form = ResolveForm(request.POST)
        done = form.attempt(lambda: self._resolve(request, run, form))
        if done is None:
            return self._show(run, form, status=422)
        new = done != run
        messages.success(request, "Run anew; this is the new run." if new else "The run is resolved.")
        return redirect("run", run_id=done.pk)

    def _resolve(self, request: HttpRequest, run: Run, form: ResolveForm) -> Run:
        """The run to look at next: the new one where it runs anew."""
        verdict = Verdict(form.cleaned_data["verdict"])
        result = form.cleaned_data["result"] if verdict in WITH_RESULT else None
        reason = form.cleaned_data["reason"]
        new = run_resolve(by=person_of(request), run=run, verdict=verdict, reason=reason, result=result)
        return new or run

    def _show(self, run: Run, form: ResolveForm, *, status: int = 200) -> HttpResponse:
        chosen = form["verdict"].value()
        choices = [
            {"value": verdict.value, "title": title, "effect": effect, "chosen": verdict.value == chosen}
            for verdict, (title, effect) in consequences_of(run).items()
        ]
        failed = run.attempts.all()[run.attempt - 1] if run.status == Status.AWAITING_PERSON else None
        told = {"run": run, "form": form, "choices": choices, "failed": failed}
        return self.show(told, status=status)


class RunRetry(QuestionView):
    """Asks, then makes a run's request again."""

    permission = "execution.add_run"

    def about(self, run_id: UUID) -> Edited[Any] | None:
        """A run with an outcome is never edited."""
        return None

    def get(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """The question."""
        run = run_detail(run_id, person_of(request), self.permission)
        calm = run.tool_version.is_pure
        return self.ask(
            Question("Retry as a new run?", _repetition(run), "Run it again", _page(run), calm=calm)
        )

    def post(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """The act; on to the new run."""
        return self._act(request, run_detail(run_id, person_of(request), self.permission))

    def _act(self, request: HttpRequest, run: Run) -> HttpResponse:
        try:
            new = self._again(request, run)
        except ToolHubError as error:
            return refused(request, f"Not run again: {error.message}", _page(run))
        messages.success(request, "Accepted; this is the new run.")
        return redirect("run", run_id=new.pk)

    def _again(self, request: HttpRequest, run: Run) -> Run:
        return run_retry_by(by=person_of(request), run=run)


class RunReplay(RunRetry):
    """Asks, then replays a run; the new run's page compares."""

    def get(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """The question."""
        run = run_detail(run_id, person_of(request), self.permission)
        touched = _repetition(run)
        if run.tool_version.determinism == "non_deterministic":
            touched.append("The tool does not promise to say the same again: a difference proves nothing.")
        calm = repeats_safely(run.tool_version)
        return self.ask(Question("Replay this run and compare?", touched, "Replay it", _page(run), calm=calm))

    def _again(self, request: HttpRequest, run: Run) -> Run:
        return run_replay_by(by=person_of(request), run=run)


def _page(run: Run) -> str:
    return reverse("run", args=[run.pk])


def _repetition(run: Run) -> list[str]:
    """What a repetition touches, in words."""
    version = run.tool_version.version
    touched = [
        f"{run.tool} {version} is called again for {run.persona.name}, with the same arguments.",
        "It is a new run on your responsibility; every right is asked again. This run stays as it is.",
    ]
    if not run.tool_version.is_pure:
        touched.append("The tool has effects: they happen again.")
    return touched
