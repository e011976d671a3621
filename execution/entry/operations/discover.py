"""discover: the tools that the caller sees, by the filters of GET tools."""

from collections.abc import Mapping
from typing import Any

from execution.entry.operations.words import Answer, Span, answer_body
from registry.api import tools_view
from registry.filters import filter_read
from security.principals import PersonaPrincipal


def tools_discover(principal: PersonaPrincipal, body: Mapping[str, Any]) -> Answer:
    """A page of tools as `results`; `metadata` has `next` and `reason`. Raises ToolHubError (422)."""
    span = Span()
    page = tools_view(principal, filter_read(body.get("filter", {}), "/filter"), body.get("after") or None)
    told = {"next": page["next"], "reason": page["reason"]}
    return Answer(answer_body("discover", "completed", page["tools"], span=span, metadata=told))
