"""A sender dies between sending and recording: the message comes twice under one id, and never gets lost."""

from typing import Any

import pytest

from core.outbox.models import Delivery, State
from execution.engine.requests import CallRequest
from execution.engine.submit import Manner, run_submit
from security.models import Persona, User
from security.signing import signing_secret_create
from security.tokens import principal_find
from tests.faults.conftest import Deaths
from tests.processes import Processes, wait_for
from tests.receiver import Receiver, receiver

__all__ = ["receiver"]

pytestmark = [pytest.mark.faults]


def test_a_sender_that_is_killed_before_it_records_makes_the_message_come_twice(
    hub: Processes, world_token: str, receiver: Receiver, deaths: Deaths, settings: Any
) -> None:
    signing_secret_create(by=User.objects.get(), persona=Persona.objects.get())
    found = principal_find(world_token)
    assert found
    request = CallRequest(arguments={"file": "a"}, callback_url=receiver.url)
    run_submit(principal=found[0], name="world_pure", request=request, manner=Manner(30))
    deaths.arm("outbox.sent")
    allow = {"TOOLHUB_HTTP_ALLOW": "127.0.0.1"}
    dying = hub.steward(**deaths.env, **allow)
    deaths.await_death("outbox.sent")
    dying.wait(10)
    assert len(receiver.got) == 1
    assert Delivery.objects.get().state == State.QUEUED
    # The claim of the dead one is over.
    Delivery.objects.update(next_at="2020-01-01T00:00:00Z")
    hub.steward(**allow)
    wait_for(lambda: Delivery.objects.get().state == State.DELIVERED, 60)
    assert len(receiver.got) == 2
    assert len({(got.headers["webhook-id"], got.body) for got in receiver.got}) == 1
