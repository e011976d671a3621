"""Pages of tools."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from core.pages import ConsoleView, page_read
from registry.contracts import CATEGORIES, CONTRACT
from registry.curl import curl_line, example_arguments
from registry.parameters import parameters_of
from registry.selectors import tool_assignments, tool_detail, tool_versions, tools_page

FILTERS = ("q", "category", "package")


class ToolsList(ConsoleView):
    """Every tool, by name."""

    permission = "registry.view_tool"
    template = "registry/tools_list.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The list, narrowed by FILTERS."""
        page = page_read(tools_page(request.GET), request.GET, key="name", descending=False)
        return self.show(
            {
                "page": page,
                "names": [tool.name for tool in page.rows],
                "filters": {name: request.GET.get(name, "") for name in FILTERS},
                "filtered": any(request.GET.get(name) for name in FILTERS),
                "categories": CATEGORIES,
            }
        )


class ToolPage(ConsoleView):
    """One tool: what it does, takes and gives, who may call it, and how."""

    permission = "registry.view_tool"
    template = "registry/tool_detail.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page."""
        tool = tool_detail(name)
        version = tool.active
        definition = version.definition if version else {}
        return self.show(
            {
                "tool": tool,
                "version": version,
                "definition": definition,
                "contract": definition.get("_meta", {}).get(CONTRACT, {}),
                "inputs": parameters_of(definition.get("inputSchema")),
                "outputs": parameters_of(definition.get("outputSchema")),
                "versions": tool_versions(tool),
                "assignments": tool_assignments(tool),
                "curl": curl_line(settings.PUBLIC_URL, tool.name, example_arguments(definition)),
            }
        )
