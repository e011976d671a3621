"""Pages of tools."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from core.lists import ListView
from core.pages import ConsoleView, Page
from registry.contract_words import contract_groups
from registry.contracts import CATEGORIES
from registry.curl import curl_line, example_arguments
from registry.lint.providers import fits_of
from registry.models import Tool
from registry.parameters import gives_words, parameters_of
from registry.rules.reading import rules_told
from registry.selectors import tool_assignments, tool_detail, tool_versions, tools_page
from security.people import person_of
from security.policy.selectors import tool_policy
from security.sharing.perms import PermsOn
from toolhub_sdk.lint.advice import advice_on
from toolhub_sdk.package import CONTRACT


class ToolsList(ListView[Tool]):
    """Every tool, by name."""

    permission = "registry.view_tool"
    template = "registry/tools_list.html"
    heading, noun, search = "Tools", "tool", "Name of a tool or package"
    filters, linked = ("q", "category"), ("package",)
    choices: ClassVar = {"category": CATEGORIES}
    key, descending, ways = "name", False, ("Back", "More")
    sorts = {"name": "name"}

    def rows(self, params: Mapping[str, str]) -> QuerySet[Tool]:
        """Narrowed by `q`, `category` and `package`."""
        return tools_page(params, person_of(self.request))

    def more(self, page: Page[Tool]) -> dict[str, Any]:
        """The categories to choose from, and the names whose runs are counted."""
        return {
            "names": [tool.name for tool in page.rows],
            "categories": [(name, name) for name in CATEGORIES],
        }


class ToolPage(ConsoleView):
    """One tool: what it does, takes and gives, who may call it, and how."""

    permission = "registry.view_tool"
    template = "registry/tool_detail.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page."""
        person = person_of(request)
        tool = tool_detail(name, person)
        perms = PermsOn(person, tool)
        version = tool.active
        definition = version.definition if version else {}
        fits = fits_of(definition) if version else []
        policy = tool_policy(tool.name, version.required_capabilities if version else ())
        return self.show(
            {
                "tool": tool,
                "perms": perms,
                "sharing": perms.summary(),
                "version": version,
                "definition": definition,
                "contract": definition.get("_meta", {}).get(CONTRACT, {}),
                "groups": contract_groups(version) if version else [],
                "advice": list(advice_on(definition, "")) if version else [],
                "fits": fits,
                "whole": [fit.provider for fit in fits if not fit.unfit and not fit.changes],
                "tags": tool.overlay.get("tags") or (version.declared.get("tags", []) if version else []),
                "inputs": parameters_of(definition.get("inputSchema")),
                "outputs": parameters_of(definition.get("outputSchema")),
                "gives": gives_words(definition.get("outputSchema")),
                "versions": tool_versions(tool),
                "assignments": tool_assignments(tool, person),
                "policy": policy,
                "rules": rules_told(tool),
                "pauses": policy.pauses,
                "curl": curl_line(settings.PUBLIC_URL, tool.name, example_arguments(definition)),
            }
        )
