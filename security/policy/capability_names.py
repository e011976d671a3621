"""Capabilities that a person or an agent names in a form or a request."""

from core.errors import InvalidRequest
from security.capabilities import capability_check, is_capability
from security.policy.models import Capability


def capability_read(text: str, pointer: str = "/capability") -> str:
    """Return the capability. Raise InvalidRequest at `pointer` for one that is malformed or has capitals.

    Capitals are taken only where a tool that is published already asks for exactly this spelling.
    """
    try:
        return capability_check(text, pointer)
    except InvalidRequest:
        if is_capability(text) and Capability.objects.filter(name=text).exists():
            return text
        raise
