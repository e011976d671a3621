"""The page on which a person tries a tool."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from core.errors import InvalidRequest, ToolHubError
from core.pages import ConsoleView
from core.submissions.pages import form_once
from execution.engine.requests import CallRequest
from execution.engine.selectors import run_whole, runs_seen
from execution.engine.states import SETTLED
from execution.engine.waiting import run_await
from execution.entry.dynamic.services import schema_made, schema_whole
from execution.entry.tries.forms import RUN, SCHEMA, TryForm
from execution.entry.tries.services import run_try, schema_try
from execution.models import Run
from registry.curl import example_arguments
from registry.models import Tool
from registry.parameters import parameters_of
from registry.personas.selectors import tool_callers
from registry.selectors import tool_detail
from registry.snippets import snippets
from security.models import Persona
from security.people import person_of
from security.permissions import require
from security.sharing.perms import PermsOn
from security.sharing.reach import within

# So long the answer waits for a quick tool; after that the page follows the run.
WAIT_S = 2.0
PROPOSED = 30


@dataclass(frozen=True)
class Shown:
    """What the page shows beside the form: a run, or a schema, or why there is neither."""

    run: Run | None = None
    schema: Mapping[str, Any] | None = None
    refused: ToolHubError | None = None


class ToolTry(ConsoleView):
    """A form made from the tool's schema, the result beside it, and the call to copy."""

    permission = "execution.add_run"
    template = "execution/tool_try.html"
    # The run is committed before the answer waits for it.
    carries_out_once = False

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The form; with `?run=` as it was for an earlier try, and that run's result."""
        tool = _tool(request, name)
        run = _tried(request, tool)
        given: dict[str, Any] = {"persona": request.GET.get("persona") or _only_persona(request, tool)}
        definition = tool.active.definition if tool.active else {}
        arguments = example_arguments(definition)
        if run:
            given |= {"persona": run.persona.name, **_context_given(run)}
            kept = {} if run.payload_expired_at else run.arguments
            arguments = arguments if run.request.get("hook") else kept
        shown = Shown(run, schema_made(run) if run else None)
        return self._show(tool, TryForm(initial=given, tool=name), arguments, shown)

    def post(self, request: HttpRequest, name: str) -> HttpResponseBase:
        """Runs it, asks for its schema, or shows the call alone; what is wrong is told at its field."""
        tool = _tool(request, name)
        form = TryForm(request.POST, tool=name)
        act = request.POST.get("act")
        if not form.is_valid():
            return self._show(tool, form, form.cleaned_data.get("arguments", {}), status=422)
        arguments = form.cleaned_data["arguments"]
        if act not in {RUN, SCHEMA}:
            return self._show(tool, form, arguments)
        try:
            persona = _persona(request, form.cleaned_data["persona"])
            call = _call(form.cleaned_data)
            if act == RUN:
                return self._run(tool, persona, call, form)
            by = person_of(request)
            asked = schema_try(by=by, persona=persona, tool=tool.name, request=call, seconds=WAIT_S)
        except ToolHubError as error:
            form.take(error)
            return self._show(tool, form, arguments, Shown(refused=error), status=422)
        run = _own(asked.run) if asked.run else None
        if run and not self.request.htmx:
            return redirect(_address(run))
        return self._show(tool, form, arguments, Shown(run, asked.schema))

    def _run(self, tool: Tool, persona: Persona, call: CallRequest, form: TryForm) -> HttpResponseBase:
        """Runs it once, however often the form is sent, and shows the run when it ends or the wait does."""
        made: list[Run] = []

        def submit() -> HttpResponse:
            made.append(run_try(by=person_of(self.request), persona=persona, tool=tool.name, request=call))
            return redirect(_address(made[0]))

        answer = form_once(self.request, submit)
        if made:
            run_await(made[0], persona.pk, WAIT_S)
        if not made or not self.request.htmx:
            return answer
        return self._show(tool, form, form.cleaned_data["arguments"], Shown(_own(made[0])))

    def _show(
        self, tool: Tool, form: TryForm, arguments: Any, shown: Shown = Shown(), *, status: int = 200
    ) -> HttpResponse:
        if not form.is_bound:
            form.initial["arguments"] = orjson.dumps(arguments, option=orjson.OPT_INDENT_2).decode()
        known = isinstance(arguments, dict) and not form["arguments"].errors
        definition = tool.active.definition if tool.active else {}
        whole = schema_whole(tool.active, shown.schema) if tool.active and shown.schema else None
        return self.show(
            {
                "tool": tool,
                "perms": PermsOn(person_of(self.request), tool),
                "version": tool.active,
                "definition": definition,
                "schema": whole or definition.get("inputSchema"),
                "form": form,
                "run": shown.run,
                "made": whole,
                "members": parameters_of(whole),
                "finished": shown.run is None or shown.run.status in SETTLED,
                "refused": shown.refused,
                "snippets": snippets(settings.PUBLIC_URL, tool.name, arguments, _more(form)) if known else [],
            },
            status=status,
        )


def _address(run: Run) -> str:
    return f"{reverse('tool_try', args=[run.tool])}?run={run.pk}"


def _persona(request: HttpRequest, name: str) -> Persona:
    """The persona to call as. Raises InvalidRequest for one that the person may not call as."""
    rows = Persona.objects.filter(name=name.strip())
    persona = within(person_of(request), rows, ToolTry.permission).first()
    if persona is None:
        raise _at("persona", f"There is no persona {name[:64]!r}.")
    return persona


def _call(wishes: Mapping[str, Any]) -> CallRequest:
    """The call that a valid form describes."""
    version = wishes["version"].strip() or None
    return CallRequest(arguments=wishes["arguments"], version=version, **_context(wishes))


def _context(wishes: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a call that say where it is made; empty ones are left out."""
    session, data = (wishes.get("session_id") or "").strip(), wishes.get("context_data")
    given = {"context": {"session_id": session} if session else {}, "context_data": data}
    return {name: value for name, value in given.items() if value}


def _more(form: TryForm) -> dict[str, Any]:
    return _context(form.cleaned_data if form.is_bound and form.is_valid() else {})


def _context_given(run: Run) -> dict[str, Any]:
    """The context of a run as the form has it."""
    data = run.request.get("context_data")
    return {
        "session_id": run.request.get("context", {}).get("session_id", ""),
        "context_data": orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() if data else "",
    }


class TryPersonas(ConsoleView):
    """What the picker of personas proposes: those that see the tool."""

    permission = "execution.add_run"
    template = "components/options.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The options."""
        found = _callers(request, _tool(request, name)).filter(
            name__icontains=request.GET.get("persona", "").strip()
        )
        return self.show({"options": [(row.name, row.title) for row in found[:PROPOSED]]})


def _tool(request: HttpRequest, name: str) -> Tool:
    person = person_of(request)
    tool = tool_detail(name, person, ToolTry.permission)
    require(person, "registry.view_tool", tool)
    return tool


def _callers(request: HttpRequest, tool: Tool) -> QuerySet[Persona]:
    """The personas in use that see the tool, and that the person may call as."""
    return tool_callers(tool, person_of(request), ToolTry.permission).filter(is_active=True)


def _only_persona(request: HttpRequest, tool: Tool) -> str:
    """The persona that sees the tool, where there is no other."""
    names = list(_callers(request, tool).values_list("name", flat=True)[:2])
    return names[0] if len(names) == 1 else ""


def _tried(request: HttpRequest, tool: Tool) -> Run | None:
    """The run of `?run=`, where it is one of this tool that the person may see."""
    try:
        run_id = UUID(request.GET.get("run", ""))
    except ValueError:
        return None
    person = person_of(request)
    seen = runs_seen(person).values("pk")
    return run_whole(run_id, Run.objects.filter(Q(responsible=person) | Q(pk__in=seen), tool=tool.name))


def _at(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])


def _own(run: Run) -> Run:
    """A run that was just made for the person, whatever they see of others."""
    return run_whole(run.pk, Run.objects.all())
