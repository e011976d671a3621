"""Checks by name, for preconditions of type custom. A new one is a line here."""

from collections.abc import Callable, Mapping

from execution.features.preconditions.facts import HOLDS, Facts, Verdict
from security.sandbox.levels import Level
from security.sandbox.probes import probe
from security.signing import has_signing_secret

Registered = Callable[[Facts], Verdict]


def _isolated(facts: Facts) -> Verdict:
    """This machine gives the strongest sandbox."""
    if probe(Level.ISOLATED).holds:
        return HOLDS
    return Verdict(False, "This machine has no sandbox of level isolated; `manage.py doctor` tells why.")


def _signing(facts: Facts) -> Verdict:
    """The persona's callbacks and webhooks can be signed."""
    if has_signing_secret(facts.place.persona_id):
        return HOLDS
    return Verdict(False, "The persona has no signing secret. An admin can make one on its page.")


CHECKS: Mapping[str, Registered] = {"sandbox:isolated": _isolated, "persona:signing": _signing}
