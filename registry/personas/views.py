"""Pages of personas: what they see, hold and may call."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.errors import ToolHubError
from core.forms import ConsoleForm
from core.pages import ConsoleView, page_read
from registry.curl import curl_line, example_arguments
from registry.models import Assignment, Package, Tool
from registry.personas.forms import AssignForm, GrantForm, PersonaForm, TokenForm
from registry.personas.selectors import (
    assignable_find,
    assignables,
    decisions_of,
    persona_detail,
    personas_page,
)
from registry.selectors import tools_assigned
from registry.services import assignment_create, assignment_delete
from security.models import Persona
from security.people import person_of
from security.services import (
    grant_create,
    grant_revoke,
    persona_create,
    persona_switch,
    token_create,
    token_revoke,
)

ROWS_SHOWN = 50


class PersonasList(ConsoleView):
    """Every persona, by name."""

    permission = "security.view_persona"
    template = "registry/personas_list.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The list, narrowed by `q`."""
        page = page_read(personas_page(request.GET), request.GET, key="name", descending=False)
        q = request.GET.get("q", "")
        return self.show({"page": page, "filters": {"q": q}, "filtered": bool(q)})


class PersonaNew(ConsoleView):
    """Makes a persona."""

    permission = "security.add_persona"
    template = "registry/persona_new.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The empty form."""
        return self.show({"form": PersonaForm()})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Makes it, or shows what is wrong."""
        form = PersonaForm(request.POST)
        if form.is_valid():
            try:
                persona = persona_create(by=person_of(request), **form.cleaned_data)
            except ToolHubError as error:
                form.take(error)
            else:
                messages.success(request, f"The persona {persona.name} is made. Assign it a tool next.")
                return redirect("persona", name=persona.name)
        return self.show({"form": form}, status=422)


@dataclass(frozen=True)
class PersonaForms:
    """The forms of a persona's page, empty ones unless one came back."""

    assign: AssignForm
    grant: GrantForm
    token: TokenForm

    @classmethod
    def with_one(cls, came_back: ConsoleForm | None = None) -> "PersonaForms":
        """All three; `came_back` takes the place of its kind."""

        def pick(kind: type[Any], prefix: str) -> Any:
            return came_back if isinstance(came_back, kind) else kind(auto_id=f"{prefix}_%s")

        return cls(pick(AssignForm, "assign"), pick(GrantForm, "grant"), pick(TokenForm, "token"))


class PersonaPage(ConsoleView):
    """One persona. The pages that change it come back here when something is wrong."""

    permission = "security.view_persona"
    template = "registry/persona_detail.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page."""
        return self.show_persona(persona_detail(name))

    def show_persona(self, persona: Persona, came_back: ConsoleForm | None = None) -> HttpResponse:
        """The page; with a form that came back, status 422."""
        assignments = persona.assignments.select_related("tool", "package", "assigned_by").order_by("-id")
        page = page_read(tools_assigned(persona.pk), self.request.GET, key="name", descending=False)
        return self.show(
            {
                "persona": persona,
                "assignments": list(assignments[:ROWS_SHOWN]),
                "assignment_count": assignments.count(),
                "grants": list(persona.grants.select_related("granted_by")[:ROWS_SHOWN]),
                "tokens": list(persona.tokens.select_related("responsible")[:ROWS_SHOWN]),
                "page": page,
                "decisions": decisions_of(persona, page.rows),
                "forms": PersonaForms.with_one(came_back),
                "assignable": assignables(persona, ""),
            },
            status=422 if came_back else 200,
        )


class AssignableOptions(ConsoleView):
    """What the picker of tools and packages proposes for what is typed."""

    permission = "registry.add_assignment"
    template = "registry/_assignable.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The options."""
        return self.show({"assignable": assignables(persona_detail(name), request.GET.get("target", ""))})


class AssignmentNew(PersonaPage):
    """Assigns a tool or package."""

    permission = "registry.add_assignment"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The form stands on the persona's page."""
        return redirect("persona", name=name)

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Assigns, or shows what is wrong."""
        persona = persona_detail(name)
        form = AssignForm(request.POST, auto_id="assign_%s")
        if form.is_valid():
            target = assignable_find(form.cleaned_data["target"])
            tool = target if isinstance(target, Tool) else None
            package = target if isinstance(target, Package) else None
            if target is None:
                form.take(_at_field("target", "There is no tool or package of this name."))
            else:
                try:
                    assignment_create(by=person_of(request), persona=persona, tool=tool, package=package)
                except ToolHubError as error:
                    form.take(_at_field("target", error.message))
                else:
                    messages.success(request, f"{target.name} is assigned.")
                    return redirect(f"{reverse('persona', args=[name])}#assignments")
        return self.show_persona(persona, form)


def _at_field(field: str, message: str) -> ToolHubError:
    return ToolHubError(
        message, code="INVALID_REQUEST", errors=[{"pointer": f"/{field}", "message": message}]
    )


class GrantNew(AssignmentNew):
    """Grants a capability."""

    permission = "security.add_grant"

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Grants, or shows what is wrong."""
        persona = persona_detail(name)
        form = GrantForm(request.POST, auto_id="grant_%s")
        if form.is_valid():
            try:
                grant = grant_create(by=person_of(request), persona=persona, **form.cleaned_data)
            except ToolHubError as error:
                form.take(error)
            else:
                messages.success(request, f"{grant.capability} is granted.")
                return redirect(f"{reverse('persona', args=[name])}#grants")
        return self.show_persona(persona, form)


class TokenNew(AssignmentNew):
    """Makes a token and shows it, this once."""

    permission = "security.add_token"

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Makes it, or shows what is wrong. The answer is never stored, neither here nor by the browser."""
        persona = persona_detail(name)
        form = TokenForm(request.POST, auto_id="token_%s")
        if form.is_valid():
            try:
                token, text = token_create(by=person_of(request), persona=persona, **form.cleaned_data)
            except ToolHubError as error:
                form.take(error)
            else:
                self.template = "registry/token_created.html"
                return self.show(
                    {"persona": persona, "token": token, "text": text, **_call_shape(persona, text)}
                )
        return self.show_persona(persona, form)


def _call_shape(persona: Persona, text: str) -> dict[str, str]:
    """A line that tries the token on a tool that the persona sees."""
    tool = tools_assigned(persona.pk).first()
    if tool is None or tool.active is None:
        return {"curl": ""}
    return {
        "curl": curl_line(
            settings.PUBLIC_URL, tool.name, example_arguments(tool.active.definition), token=text
        )
    }


class PersonaSwitch(ConsoleView):
    """Asks, then switches a persona on or off."""

    permission = "security.change_persona"
    template = "components/confirm.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The question, with what it touches."""
        persona = persona_detail(name)
        valid = sum(token.state == "valid" for token in persona.tokens.all())
        tools = tools_assigned(persona.pk).count()
        off = persona.is_active
        effect = "refused from the next call on" if off else "answered again"
        return self.show(
            {
                "title": f"Switch {name} {'off' if off else 'on'}?",
                "touched": [
                    f"Calls with its {valid} valid token{'' if valid == 1 else 's'} are {effect}.",
                    f"It sees {tools} tool{'' if tools == 1 else 's'}; assignments, grants and tokens stay.",
                ],
                "action": "Switch it off" if off else "Switch it on",
                "calm": not off,
                "hidden": {"on": "no" if off else "yes"},
                "back": reverse("persona", args=[name]),
            }
        )

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """The act: what the question asked, even when somebody else was faster."""
        on = request.POST.get("on") == "yes"
        persona_switch(by=person_of(request), persona=persona_detail(name), on=on)
        messages.success(request, f"{name} is switched {'on' if on else 'off'}.")
        return redirect("persona", name=name)


class AssignmentDelete(ConsoleView):
    """Asks, then takes an assignment back."""

    permission = "registry.delete_assignment"
    template = "components/confirm.html"

    def get(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The question."""
        assignment = self._row(name, row)
        what = assignment.tool or assignment.package
        scope = "this tool" if assignment.tool else "the tools of this package"
        return self.show(
            {
                "title": f"Take {what} from {name}?",
                "touched": [
                    f"The next call of {scope} is answered as if it did not exist.",
                    "Runs and audit stay.",
                ],
                "action": "Take it back",
                "back": f"{reverse('persona', args=[name])}#assignments",
            }
        )

    def post(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The act."""
        assignment = self._row(name, row)
        assignment_delete(by=person_of(request), assignment=assignment)
        messages.success(request, f"{assignment.tool or assignment.package} is no longer assigned.")
        return redirect(f"{reverse('persona', args=[name])}#assignments")

    def _row(self, name: str, row: int) -> Assignment:
        rows = Assignment.objects.select_related("persona", "tool", "package")
        found = rows.filter(pk=row, persona__name=name).first()
        if found is None:
            raise Http404
        return found


class GrantRevoke(ConsoleView):
    """Asks, then takes a capability back."""

    permission = "security.delete_grant"
    template = "components/confirm.html"

    def get(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The question."""
        grant = persona_detail(name).grants.filter(pk=row).first()
        if grant is None:
            raise Http404
        return self.show(
            {
                "title": f"Revoke {grant.capability} from {name}?",
                "touched": ["The next call that needs it is refused.", f"It was granted for: {grant.reason}"],
                "action": "Revoke it",
                "back": f"{reverse('persona', args=[name])}#grants",
            }
        )

    def post(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The act."""
        grant = persona_detail(name).grants.filter(pk=row).first()
        if grant is None:
            raise Http404
        grant_revoke(by=person_of(request), grant=grant)
        messages.success(request, f"{grant.capability} is revoked.")
        return redirect(f"{reverse('persona', args=[name])}#grants")


class TokenRevoke(ConsoleView):
    """Asks, then ends a token."""

    permission = "security.delete_token"
    template = "components/confirm.html"

    def get(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The question."""
        token = persona_detail(name).tokens.select_related("responsible").filter(pk=row).first()
        if token is None:
            raise Http404
        return self.show(
            {
                "title": f"Revoke the token {token.prefix}…?",
                "touched": [
                    f"Used for {token.name}; {token.responsible.get_username()} is responsible for it.",
                    "The next call with it is refused; this cannot be undone.",
                ],
                "action": "Revoke it",
                "back": f"{reverse('persona', args=[name])}#tokens",
            }
        )

    def post(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The act."""
        token = persona_detail(name).tokens.filter(pk=row).first()
        if token is None:
            raise Http404
        token_revoke(by=person_of(request), token=token)
        messages.success(request, f"The token {token.prefix}… is revoked.")
        return redirect(f"{reverse('persona', args=[name])}#tokens")
