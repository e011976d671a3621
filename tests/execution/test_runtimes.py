"""Runtimes are known by their traits: what is asked of them, and what comes of a name that nobody knows."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from core.errors import ToolHubError
from execution.engine.perform import queue_work
from execution.engine.queues import QUEUES
from execution.engine.runtimes import RUNTIMES
from execution.models import Run
from registry.models import Package, ToolVersion
from registry.runtimes import hub_runtime_of
from security.sandbox.abilities import abilities
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.runtimes.registry import UnknownRuntime, own_runtime, runtime_of, runtimes
from toolhub_sdk.runtimes.traits import Runtime
from toolhub_sdk.stop import StopError

Call = Callable[..., Any]
GONE = "elsewhere"


def test_each_runtime_has_its_part_in_the_sdk_and_in_the_hub() -> None:
    assert set(RUNTIMES.load()) == set(runtimes())
    for name, made in RUNTIMES.items():
        assert (made.name, runtime_of(name).name) == (name, name)
        # Trusted code is the hub's own, and nothing holds it.
        assert made.is_trusted is runtime_of(name).is_own
        assert not (made.is_trusted and made.is_sandboxed)
        # What a sandbox holds is never carried out in a web process.
        assert not (made.is_sandboxed and made.may_run_inline)
        assert hub_runtime_of(name) is made


def test_each_queue_has_a_runtime_that_sends_to_it() -> None:
    assert {made.queue for made in RUNTIMES.load().values()} == set(QUEUES)


def test_the_least_level_is_the_contracts_where_a_sandbox_holds_the_tool() -> None:
    for made in RUNTIMES.load().values():
        contracts: list[dict[str, str]] = [{}, {"isolation": "paranoid"}]
        definitions = [{"_meta": {CONTRACT: each}} for each in contracts]
        silent, paranoid = (made.least_level(ToolVersion(definition=each)) for each in definitions)
        assert (silent, paranoid) == (("strict", "paranoid") if made.is_sandboxed else ("none", "none"))


def test_the_doctor_tells_of_each_runtime_that_needs_something() -> None:
    told = {each.name for each in abilities()}
    assert {name for name, made in RUNTIMES.load().items() if made.health()} <= told


def test_only_a_runtime_that_describes_code_reads_it() -> None:
    class Silent(Runtime):
        name = "silent"

    with pytest.raises(NotImplementedError):
        Silent().entry_find({})
    with pytest.raises(StopError, match="there is none"):
        next(each for each in runtimes().values() if each.describes).entry_find({})


def test_an_unknown_name_is_an_error_with_a_code() -> None:
    with pytest.raises(UnknownRuntime, match=f"no runtime '{GONE}'. Known are .*{own_runtime().name}") as sdk:
        runtime_of(GONE)
    assert sdk.value.code == "RUNTIME_UNKNOWN"
    for ask in (RUNTIMES.__getitem__, hub_runtime_of):
        with pytest.raises(ToolHubError, match=f"no runtime '{GONE}'") as hub:
            ask(GONE)
        assert hub.value.code == "RUNTIME_UNKNOWN"
        assert hub.value.data == {"runtime": GONE, "known": list(runtimes())}


@pytest.mark.django_db
def test_a_call_of_a_tool_whose_runtime_is_gone_is_refused(call: Call, fx: Package) -> None:
    ToolVersion.objects.filter(tool__name="fx_echo").update(runner=GONE)
    refused = call("fx_echo", {"value": "a"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "RUNTIME_UNKNOWN")
    assert Run.objects.count() == 0


@pytest.mark.django_db
def test_a_worker_without_the_runtime_fails_the_run_and_its_caller_still_reads_it(
    call: Call, fx: Package, client: Client, token_text: str
) -> None:
    accepted = call("fx_echo", {"value": "a"}, HTTP_PREFER="respond-async")
    run = uuid.UUID(accepted.json()["metadata"]["run_id"])
    ToolVersion.objects.filter(tool__name="fx_echo").update(runner=GONE)
    assert queue_work(QUEUES[0]) == 1
    told = client.get(f"/api/v1/runs/{run}", HTTP_AUTHORIZATION=f"Bearer {token_text}")
    assert (told.status_code, told.json()["error"]["code"]) == (200, "RUNTIME_UNKNOWN")
    assert told.json()["metadata"]["status"] == "failed"
