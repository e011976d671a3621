"""Whatever effect fails, and however, memory ends as it began."""

from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from execution.engine.outcomes import success
from execution.engine.places import Place
from execution.engine.settle import run_settle
from execution.memory.store import spaces_lock, value_put
from execution.models import Run, Status
from tests.execution.effects.conftest import memory, notice, remembered, state
from tests.execution.fixtures import Declare, MakeRun

pytestmark = pytest.mark.django_db
KEYS = st.sampled_from(["a", "b", "n"])
SCOPES = st.sampled_from(["working", "short-term", "long-term"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
STATES = st.builds(
    lambda key, how: state(key, how[0], **how[1]),
    KEYS,
    st.tuples(st.just("set"), st.fixed_dictionaries({"value": VALUES}))
    | st.tuples(st.sampled_from(["increment", "decrement"]), st.just({}))
    | st.just(("clear", {}))
    | st.just(("set", {"expression": "[current, result]"})),
)
MEMORIES = st.builds(
    lambda key, scope, how: memory(key, how[0], scope, **how[1]),
    KEYS,
    SCOPES,
    st.tuples(st.just("write"), st.fixed_dictionaries({"value": VALUES}))
    | st.just(("update", {"expression": "{'was': current}", "keep": 2}))
    | st.just(("delete", {})),
)
FAULTS = st.sampled_from(
    [
        memory("a", expression="result.missing"),
        memory("a", value="x" * 61_439),
        notice("x", expression="1 / 0"),
        {"type": "cascade", "description": "C.", "tool": "nothing", "arguments": {}},
    ]
)


class Undo(Exception):
    """Takes an example back."""


@given(
    before=st.lists(st.tuples(SCOPES, KEYS, VALUES), max_size=5),
    good=st.lists(STATES | MEMORIES, max_size=6),
    bad=FAULTS,
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_memory_ends_as_it_began(
    declare: Declare, make_run: MakeRun, before: Any, good: list[dict[str, Any]], bad: dict[str, Any]
) -> None:
    declare("fx_echo", effects=[*good, bad])
    try:
        with transaction.atomic():
            place = Place(make_run().persona_id)
            for scope, key, value in before:
                value_put(spaces_lock(place, [scope])[scope], key, value)
            began = remembered()
            run = make_run(status=Status.RUNNING, attempt=1)

            at = run.created_at
            done = success({"x": 1}, started_at=at, ended_at=at, duration_ms=1.0)
            assert run_settle(run, done, sources=[Status.RUNNING], who="finish")
            ended = Run.objects.get(pk=run.pk)
            assert (ended.status, ended.error["code"]) == (Status.FAILED, "EFFECT_FAILED")  # type: ignore[index]
            assert remembered() == began
            raise Undo
    except Undo:
        pass
