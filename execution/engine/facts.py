"""What is read again before a run starts."""

from dataclasses import dataclass

from execution.models import Run
from registry.selectors import ResolvedTool, tool_resolve_version
from security.facts import TokenState
from security.models import Persona, User
from security.principals import PersonaPrincipal
from security.tokens import principal_of, principal_of_persona

Rights = tuple[PersonaPrincipal, TokenState]


@dataclass(frozen=True)
class Facts:
    """Whose rights a run stands on now, and the version with what assigns it now."""

    rights: Rights | None
    found: ResolvedTool


def facts_of(run: Run) -> Facts:
    """The facts, read by the ORM."""
    return Facts(rights_of(run), tool_resolve_version(run.tool_version, run.persona_id))


def rights_of(run: Run) -> Rights | None:
    """Whose rights count now: the token's, else the persona's with who answers for the run, if anybody."""
    if run.token_id is not None:
        return principal_of(run.token_id)
    responsible = User.objects.filter(pk=run.responsible_id).first() if run.responsible_id else None
    if responsible is None:
        return None
    return principal_of_persona(Persona.objects.get(pk=run.persona_id), responsible), "none"
