"""The catalogue of capabilities: what each means and how much harm it can do, for those who grant them.

A capability is noted when a release that needs it is published; people describe it.
"""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import QuerySet

from audit.ledger import Entry, record
from security.acting import MANAGE, PERSONAS, By, acting
from security.event_kinds import CAPABILITY_DESCRIBED
from security.models import Grant
from security.policy.models import Capability
from security.policy.services import field_error

DESCRIPTION_MAX = 300
RISKS = ("low", "medium", "high", "critical")
# A first guess, by the beginning of the name; people correct it.
_GUESSES = (
    ("toolhub", "critical"),
    ("system", "high"),
    ("shell", "critical"),
    ("process", "high"),
    ("file:read", "low"),
    ("file:delete", "high"),
    ("secret", "high"),
)
OWN = {
    MANAGE: "Install, change and remove packages, as far as the person responsible may.",
    PERSONAS: "Change what personas may do, and the policy of the hub, as far as the person responsible may.",
}


def risk_guess(name: str) -> str:
    """How much harm a capability can do, guessed by its name."""
    return next((risk for begins, risk in _GUESSES if name.startswith(begins)), "medium")


def capabilities_note(names: Iterable[str]) -> None:
    """Puts capabilities that tools need into the catalogue, where they are not in it yet."""
    Capability.objects.bulk_create(
        [Capability(name=name, risk=risk_guess(name)) for name in sorted(set(names))], ignore_conflicts=True
    )


def capability_describe(*, by: By, capability: Capability, description: str, risk: str) -> None:
    """Says what a capability means and how much harm it can do. Raises Denied, InvalidRequest."""
    actor = acting(by, "policy.change_capability", PERSONAS)
    description = description.strip()
    if len(description) > DESCRIPTION_MAX or "\0" in description:
        raise field_error("description", f"Use at most {DESCRIPTION_MAX} characters, and no NUL.")
    if risk not in RISKS:
        raise field_error("risk", f"One of {', '.join(RISKS)}.")
    changed = {"description": description, "risk": risk}
    with transaction.atomic():
        rows = Capability.objects.filter(pk=capability.pk).exclude(**changed)
        if rows.update(**changed):
            data = {"capability": capability.name, **changed}
            record(Entry(CAPABILITY_DESCRIBED, actor, "capability", capability.name, data))


def grants_that_hold(names: Iterable[str]) -> QuerySet[Grant]:
    """Grants of these capabilities, with their personas, by persona."""
    rows = Grant.objects.filter(capability__in=list(names)).select_related("persona", "granted_by")
    return rows.order_by("persona__name", "capability")
