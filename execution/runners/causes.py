"""Why a tool failed that gave no error code: its exception's text, and the hosts that it was refused."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from core.errors import error_object
from execution.engine.call import Call, unsaid
from execution.engine.outcomes import Outcome
from execution.models import Status
from security.redaction import MARK
from security.sandbox.gate import NOT_IN_CONTRACT, Reached

TEXT_MOST = 500
HOSTS_SHOWN = 10
# A folder of the machine is nobody's business; the file's name helps. Addresses on the web stay whole.
_FOLDERS = re.compile(r"(?<![\w:/.~])(?!/toolhub/)(?:/[^\s/'\"<>|:;,()\[\]{}]+)*/(?=[^\s/'\"<>|:;,()\[\]{}])")
# Credentials that the vault does not know, by the names that they usually have, and in addresses.
_CREDENTIALS = re.compile(
    r"(?i)((?:password|passwd|pwd|secret|token|api[_-]?key|authorization)"
    r"['\"]?\s{0,3}[=:]\s{0,3}(?:bearer\s)?['\"]?"
    r"|://[^\s/@:]{0,100}:)[^\s'\"&@,;]{1,500}"
)


def cause_text(call: Call, text: str) -> str:
    """Return an exception's text on one line, without secrets and folders, at most 500 characters."""
    said = " ".join(str(unsaid(call, text)).split())[: 4 * TEXT_MOST]
    said = "".join(one if one.isprintable() else "\ufffd" for one in said)
    said = _FOLDERS.sub("…/", _CREDENTIALS.sub(rf"\1{MARK}", said))
    return said if len(said) <= TEXT_MOST else f"{said[:TEXT_MOST]}…"


def failed_error(call: Call, kind: str, text: str = "") -> dict[str, Any]:
    """Return the error of a tool that raised an exception without a code."""
    said = cause_text(call, text)
    return error_object("EXECUTION_FAILED", f"{call.tool} failed with {kind}{f': {said}' if said else '.'}")


def hosts_refused(call: Call, outcome: Outcome, reached: Sequence[Reached]) -> Outcome:
    """Return the outcome with the hosts that the gate refused, where the tool failed.

    They are the error where the tool has none of its own; else they stand in its details.
    """
    hosts = [one for one in reached if not one.allowed]
    if outcome.status is not Status.FAILED or outcome.error is None or not hosts:
        return outcome
    names = [str(unsaid(call, f"{one.host}:{one.port}")) for one in hosts][:HOSTS_SHOWN]
    by_contract = hosts[0].why == NOT_IN_CONTRACT
    own = outcome.error
    details = {**own["details"], "refused_hosts": names, "allowed_hosts": list(_allowed(call))}
    if own["code"] != "EXECUTION_FAILED":
        return dataclasses.replace(outcome, error={**own, "details": details})
    why = (
        "is not in network.allow of the tool's contract"
        if by_contract
        else str(unsaid(call, hosts[0].why)) or "is refused"
    )
    remedy = (
        f"Ask the tool's author to add {names[0]} to network.allow in a new version; a person who may review "
        "packages approves it."
        if by_contract
        else f"Ask an admin to allow {names[0]} with TOOLHUB_HTTP_ALLOW, if it is one of your own."
    )
    made = error_object(
        "HOST_NOT_ALLOWED" if by_contract else "ADDRESS_REFUSED",
        f"{call.tool} asked for {names[0]}, which {why}. {own['message']}",
        suggestions=[remedy],
        details=details,
    )
    return dataclasses.replace(outcome, error=made)


def _allowed(call: Call) -> Sequence[str]:
    found: Sequence[str] = call.version.declared.get("network", {}).get("allow", ())
    return found[:HOSTS_SHOWN]
