"""The cast of the tests of callbacks: a persona that can sign, and a receiver on this machine."""

from collections.abc import Callable
from typing import Any

import pytest

from core.outbox.models import Delivery
from core.outbox.send import delivery_try
from core.outbox.services import delivery_claim
from security.models import Persona, User
from security.signing import signing_secret_create
from tests.execution.fixtures import fx, leased, make_run, post
from tests.receiver import Receiver, closed_port, receiver

__all__ = ["closed_port", "fx", "leased", "make_run", "post", "receiver"]


@pytest.fixture
def secret(admin: User, persona: Persona) -> str:
    """The persona's signing secret as its receiver has it."""
    return signing_secret_create(by=admin, persona=persona)


@pytest.fixture
def called(
    call: Callable[..., Any], fx: Any, secret: str, receiver: Receiver
) -> Callable[..., dict[str, Any]]:
    """Calls `fx_echo` with a callback to the receiver; returns the answer's `metadata`."""

    def do(url: str | None = None, **headers: str) -> dict[str, Any]:
        body = {"arguments": {"value": "hello"}, "callback_url": url or receiver.url}
        answer = call("fx_echo", body=body, **headers)
        assert answer.status_code in (200, 202), answer.content
        return dict(answer.json()["metadata"])

    return do


def deliver() -> int:
    """Sends what is due now, as a sender does; returns how many tries that were."""
    tries = 0
    while delivery := delivery_claim():
        delivery_try(delivery)
        tries += 1
    return tries


def make_due() -> None:
    """Lets the waiting time of all that is owed be over."""
    Delivery.objects.update(next_at="2020-01-01T00:00:00Z")
