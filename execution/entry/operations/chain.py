"""execute_chain: calls one after the other, each an ordinary run, later ones fed by earlier ones."""

import dataclasses
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import Error as DatabaseProblem

from core.clock import uuid7
from core.errors import ToolHubError
from core.json.canonical import CanonicalError, canonical
from core.json.pointer import pointer_get
from core.parsers import BODY_MAX
from core.problems import as_toolhub_error
from execution.engine.calls.checks import key_check
from execution.engine.requests import CallRequest
from execution.engine.submit import Manner, run_submit
from execution.engine.waiting import run_await
from execution.entry.operations.flow import chain_answer
from execution.entry.operations.order import calls_ordered
from execution.entry.operations.requests import ToolCall, calls_read
from execution.entry.operations.words import Answer, Span, Tried
from registry.schemas import pointer
from security.principals import PersonaPrincipal
from security.tokens import principal_of

_KEYS = uuid.UUID("5b0c5f4e-6f0a-5d0e-9d2c-3f6a1f6f0c42")


@dataclass
class Chain:
    """A chain while it runs. `ends` is in seconds of `time.monotonic()`."""

    principal: PersonaPrincipal
    id: uuid.UUID
    ends: float
    stops_on_error: bool
    has_key: bool
    tried: dict[str, Tried] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def left(self) -> float:
        """Seconds that the caller still waits."""
        return max(0.0, self.ends - time.monotonic())


def chain_execute(
    principal: PersonaPrincipal, body: Mapping[str, Any], manner: Manner, key: str | None
) -> Answer:
    """Carries out the calls of a chain while the caller waits.

    What refuses one call is that result's error. A call whose run outlasts the wait ends the chain: the
    run goes on, the calls after it are not started. Raises ToolHubError (422) for a request that does
    not fit, before anything runs.
    """
    span = Span()
    key_check(key)
    calls = calls_ordered(calls_read(body), body.get("order", "given"))
    # One key is one chain, so that a repetition finds the runs of the first time.
    name = f"{principal.persona_id}:{key}"
    chain_id = uuid.uuid5(_KEYS, name) if key else uuid7()
    ends = time.monotonic() + manner.wait_s
    chain = Chain(principal, chain_id, ends, body.get("stopOnError", True), bool(key))
    for call in calls:
        why = _why_not(chain, call)
        if why:
            chain.skipped[call.id] = why
        else:
            chain.tried[call.id] = _try(chain, call)
    return chain_answer(chain_id, calls, chain.tried, chain.skipped, body.get("order", "given"), span)


def _why_not(chain: Chain, call: ToolCall) -> str | None:
    """Why a call is not started; None when it is."""
    going_on = next((one.call.id for one in chain.tried.values() if one.is_open), None)
    if going_on is not None:
        return f"The wait ended while {going_on!r} ran."
    failed = [one.call.id for one in chain.tried.values() if one.word != "success"]
    stopping = next((one.call.id for one in chain.tried.values() if _stops(chain, one)), None)
    if stopping is not None:
        return f"{stopping!r} did not succeed."
    missing = next((name for name in call.needs if name in failed or name in chain.skipped), None)
    if missing is not None:
        return f"It depends on {missing!r}, which did not succeed."
    return "The wait ended before it." if chain.tried and not chain.left() else None


def _stops(chain: Chain, tried: Tried) -> bool:
    """Whether a call ends the chain: as its tool's recovery says of a failure, else as the caller wishes."""
    way = ((tried.error or {}).get("details") or {}).get("recovery", {}).get("type")
    if tried.word == "success" or way == "skip":
        return False
    return way == "abort" or chain.stops_on_error


def _try(chain: Chain, call: ToolCall) -> Tried:
    try:
        principal = _principal_now(chain)
        run = run_submit(
            principal=principal,
            name=call.name,
            request=_filled(chain, call),
            manner=Manner(chain.left()),
            key=f"{chain.id}:{call.index}" if chain.has_key else None,
        )
        return Tried(call, run_await(run, principal.persona_id, chain.left()))
    except (ToolHubError, DatabaseProblem) as error:
        # What earlier calls did has to be told, so a database that goes away is this call's error only.
        known = as_toolhub_error(error)
        if known is None:
            raise
        return Tried(call, refusal=known)


def _principal_now(chain: Chain) -> PersonaPrincipal:
    """The caller with the rights of this moment: they may have changed since the chain began."""
    token_id = chain.principal.token_id
    if not chain.tried or token_id is None:
        return chain.principal
    principal, state = principal_of(token_id)
    if state != "valid":
        raise ToolHubError(f"The token is {state}.", code="UNAUTHENTICATED")
    return principal


def _filled(chain: Chain, call: ToolCall) -> CallRequest:
    """The call's request with its mapped arguments. Raises ToolHubError when an output has no such place."""
    arguments = dict(call.request.arguments)
    for name, source in call.mapping.items():
        run = chain.tried[source.id].run
        try:
            arguments[name] = pointer_get(run.result if run else None, source.pointer)
        except LookupError as error:
            message = f"The output of {source.id!r} has nothing at {source.pointer!r}."
            at = {"pointer": pointer(["mapping", name]), "message": message}
            raise ToolHubError(message, code="INVALID_ARGUMENTS", errors=[at]) from error
    if call.mapping:
        _size_check(arguments)
    step = {"id": str(chain.id), "step": call.index}
    return dataclasses.replace(call.request, arguments=arguments, chain=step)


def _size_check(arguments: Mapping[str, Any]) -> None:
    try:
        size = len(canonical(arguments))
    except CanonicalError as error:
        raise ToolHubError("The mapped arguments are nested too deep.", code="INVALID_ARGUMENTS") from error
    if size > BODY_MAX:
        raise ToolHubError("The mapped arguments are larger than 1 MiB.", code="TOO_LARGE")
