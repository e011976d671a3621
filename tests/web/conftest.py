"""The cast: a world of one persona's objects, and everybody who may ask for them."""

from collections.abc import Callable
from typing import Any

import pytest

from execution.models import Approval
from registry.models import Package
from security.models import Persona, User
from tests.execution.fixtures import Declare, declare, fx
from tests.web.world import World, world_make

__all__ = ["declare", "fx"]


@pytest.fixture
def world(
    admin: User, persona: Persona, token_text: str, fx: Package, declare: Declare, call: Callable[..., Any]
) -> World:
    """Everything belongs to the persona `researcher`."""
    call("fx_context", {}, body={"arguments": {}, "context": {"session_id": "s1", "loop_id": "l1"}})
    declare("fx_echo", requiresApproval=True)
    answer = call("fx_echo", {"value": 1})
    asked = Approval.objects.get(run_id=answer.json()["metadata"]["run_id"])
    return world_make(admin, persona, token_text, asked)
