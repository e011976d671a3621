"""execute_single: one call."""

from collections.abc import Mapping
from typing import Any

from core.errors import ToolHubError
from execution.engine.submit import Manner, run_submit
from execution.engine.waiting import run_await
from execution.entry.operations.requests import call_read, placed
from execution.entry.operations.words import Answer, Span, Tried, answer_body, result_view
from security.principals import PersonaPrincipal


def single_execute(
    principal: PersonaPrincipal, body: Mapping[str, Any], manner: Manner, key: str | None
) -> Answer:
    """Carries out the call of `parameters`; waits for a worker as the caller wishes.

    Raises what `run_submit` raises, with pointers into this body.
    """
    span, call = Span(), call_read(body)
    try:
        run = run_submit(principal=principal, name=call.name, request=call.request, manner=manner, key=key)
    except ToolHubError as error:
        raise placed(error, call.place) from error
    if not manner.detached:
        run = run_await(run, principal.persona_id, manner.wait_s)
    tried = Tried(call, run)
    answer = answer_body("execute_single", tried.status, [result_view(tried)], span=span)
    return Answer(answer, run if tried.is_open else None)
