"""Pages: the catalogue of capabilities."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from core.lists import ListView
from core.pages import ConsoleView, Page
from registry.models import Tool
from registry.policy.forms import CapabilityForm
from registry.policy.kept import capabilities_kept
from security.capabilities import holders
from security.edits import CAPABILITY
from security.people import person_of
from security.policy.catalogue import RISKS, capability_describe, grants_that_hold
from security.policy.models import Capability
from security.policy.selectors import capabilities_known, capabilities_page, capability_detail
from security.sharing.reach import about

SHOWN, OPTIONS = 50, 30


class CapabilitiesList(ListView[Capability]):
    """Every capability that tools need, by name."""

    permission = "policy.view_capability"
    template = "registry/capabilities_list.html"
    heading, noun, search = "Capabilities", "capability", "Part of a name or description"
    nouns = "capabilities"
    filters = ("q", "risk")
    choices: ClassVar = {"risk": RISKS}
    key, descending, ways = "name", False, ("Back", "More")

    def rows(self, params: Mapping[str, str]) -> QuerySet[Capability]:
        """Narrowed by `q` and `risk`."""
        return capabilities_page(params, capabilities_kept(person_of(self.request)))

    def more(self, page: Page[Capability]) -> dict[str, Any]:
        """The risks to choose from."""
        return {"risks": [(word, word) for word in RISKS]}


class CapabilityOptions(ConsoleView):
    """What the picker of a capability proposes for what is typed."""

    permission = "security.add_grant"
    template = "components/options.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The options."""
        text, kept = request.GET.get("capability", "").strip(), capabilities_kept(person_of(request))
        names = capabilities_known(text, but=kept)[:OPTIONS]
        noted = dict(Capability.objects.filter(name__in=names).values_list("name", "description"))
        return self.show({"options": [(name, noted.get(name, "")) for name in names]})


class CapabilityPage(ConsoleView):
    """One capability: what it means, which tools need it, who holds it by which grant."""

    permission = "policy.view_capability"
    template = "registry/capability_detail.html"

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The page."""
        one = capability_detail(row, capabilities_kept(person_of(request)))
        given = {"description": one.description, "risk": one.risk}
        return self._show(one, CapabilityForm(of=CAPABILITY.of(one), initial=given))

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """Describes it, or shows what is wrong."""
        one = capability_detail(row, capabilities_kept(person_of(request)))
        form = CapabilityForm(request.POST, of=CAPABILITY.of(one))

        def describe() -> bool:
            capability_describe(by=person_of(request), capability=one, **form.cleaned_data)
            return True

        if not form.attempt(describe):
            return self._show(one, form, status=form.status)
        messages.success(request, f"{one.name} is described.")
        return redirect("capability", row=row)

    def _show(self, one: Capability, form: CapabilityForm, *, status: int = 200) -> HttpResponse:
        person = person_of(self.request)
        tools = Tool.objects.filter(active__required_capabilities__contains=one.name).select_related("active")
        tools = about(person, tools, self.permission, tool="name")
        grants = about(person, grants_that_hold(holders(one.name)), self.permission, persona="persona")
        needing = [tool for tool in tools.order_by("name")[: 2 * SHOWN] if _needs(tool, one.name)]
        return self.show(
            {
                "capability": one,
                "form": form,
                "tools": needing[:SHOWN],
                "grants": grants[:SHOWN],
            },
            status=status,
        )


def _needs(tool: Tool, name: str) -> bool:
    return tool.active is not None and name in tool.active.required_capabilities
