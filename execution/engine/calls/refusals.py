"""Lets the ledger hear of calls that were refused."""

from typing import Any

from audit.denials import denial_record
from core.errors import ToolHubError
from execution.engine.entries import refused_entry
from security.principals import PersonaPrincipal


def refusal_record(principal: PersonaPrincipal, tool: str, error: ToolHubError, why: dict[str, Any]) -> None:
    """Lets the ledger hear of a call that was refused."""
    entry = refused_entry(principal, tool, error.code, why)
    # Names that do not exist are without number: their refusals are counted together.
    counted_as = "" if error.code in {"TOOL_NOT_FOUND", "VERSION_NOT_FOUND"} else tool[:64]
    denial_record(entry, persona=principal.persona, tool=counted_as, code=error.code)
