"""What an approval is bound to: this run of this persona, this version of the tool, these arguments."""

import hashlib

from core.json.canonical import canonical
from execution.models import Approval, Run, Verdict


def binding_of(run: Run) -> bytes:
    """SHA-256 over run, persona, the version's digest, arguments and request, as the run holds them now."""
    whole = {
        "run": str(run.pk),
        "persona": run.persona_id,
        "version": run.tool_version.digest,
        "arguments": run.arguments,
        "request": run.request,
    }
    return hashlib.sha256(canonical(whole)).digest()


def approved_by(run: Run) -> str:
    """Who approved exactly this call; empty when nobody did."""
    rows = Approval.objects.filter(run=run, decision=Verdict.APPROVED).select_related("decided_by")
    approval = rows.first()
    if approval is None or approval.decided_by is None or bytes(approval.binding) != binding_of(run):
        return ""
    return approval.decided_by.get_username()
