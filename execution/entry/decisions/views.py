"""Pages: the simulator, and who can call a tool."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from core.errors import InvalidRequest, NotFound
from core.lists import ListView
from core.pages import ConsoleView, Page
from execution.entry.decisions.forms import SimulatorForm
from execution.entry.decisions.simulate import Simulated, call_simulate, persona_asked, request_supposed
from execution.entry.schedules.selectors import options_of
from registry.personas.selectors import callers_of, tool_callers
from registry.selectors import tool_detail
from security.models import Persona
from security.people import person_of


class Simulator(ConsoleView):
    """Would this persona be allowed this call, and why (not)? Nothing runs and nothing is recorded."""

    permission = "security.view_persona"
    template = "execution/simulator.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The form; with `?persona=` and `?tool=` the answer, too, before arguments are known."""
        given = {name: request.GET[name] for name in ("persona", "tool", "version") if request.GET.get(name)}
        if not {"persona", "tool"} <= set(given):
            return self.show({"form": SimulatorForm(initial=given)})
        return self._answer(SimulatorForm({**given, "arguments": ""}), status=200)

    def post(self, request: HttpRequest) -> HttpResponse:
        """The answer for exact arguments."""
        return self._answer(SimulatorForm(request.POST), status=422)

    def _answer(self, form: SimulatorForm, *, status: int) -> HttpResponse:
        found = form.attempt(lambda: self._simulate(form.cleaned_data))
        known = found is not None and form.cleaned_data["arguments"] is not None
        context = {"form": form, "found": found, "known": known}
        return self.show(context, status=200 if found else status)

    def _simulate(self, given: Mapping[str, Any]) -> Simulated:
        persona = persona_asked(person_of(self.request), given["persona"].strip())
        wanted = {name: value for name, value in given.items() if name in {"version", "arguments"} and value}
        tool, known = given["tool"].strip(), given["arguments"] is not None
        try:
            tool_detail(tool.partition("@")[0], person_of(self.request))
            return call_simulate(persona, tool, request_supposed(wanted), known=known)
        except NotFound as error:
            field = "version" if error.code == "VERSION_NOT_FOUND" else "tool"
            message = f"There is no tool {tool!r}." if field == "tool" else error.message
            raise InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}]) from error


class SimulatorOptions(ConsoleView):
    """What the pickers of the form propose for what is typed."""

    permission = "security.view_persona"
    template = "components/options.html"

    def get(self, request: HttpRequest, field: str) -> HttpResponse:
        """The options."""
        return self.show({"options": options_of(field, request.GET.get(field, ""), person_of(request))})


class ToolCallers(ListView[Persona]):
    """Who can call a tool: every persona that it is assigned to, with the decision."""

    permission = "security.view_persona"
    template = "execution/tool_callers.html"
    noun, search, above = "persona", "Name of a persona", ("tools", "Tools")
    key, descending, ways = "name", False, ("Back", "More")

    def get(self, request: HttpRequest, name: str) -> HttpResponse:  # type: ignore[override]
        """The page of rows that the address asks for."""
        self.tool = tool_detail(name, person_of(request))
        self.heading = f"Who can call {self.tool.name}"
        return super().get(request)

    def rows(self, params: Mapping[str, str]) -> QuerySet[Persona]:
        """Narrowed by `q`."""
        rows = tool_callers(self.tool, person_of(self.request))
        return rows.filter(name__icontains=params["q"].strip()) if params.get("q") else rows

    def more(self, page: Page[Persona]) -> dict[str, Any]:
        """The decision on each of the page's personas, and the way back to the tool."""
        way = {"between": self.tool.name, "between_url": reverse("tool", args=[self.tool.name])}
        return {"tool": self.tool, "decided": callers_of(self.tool, page.rows), **way}
