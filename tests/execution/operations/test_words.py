"""Every status of a run has one of S4's words."""

import pytest

from execution.engine.requests import CallRequest
from execution.entry.operations.flow import resources_total
from execution.entry.operations.requests import ToolCall
from execution.entry.operations.words import Tried
from execution.models import Run, Status

# S4's six words for an operation, its four for a result (None: no outcome yet), as the design maps them.
WORDS = {
    "awaiting_approval": ("pending", None),
    "pending": ("pending", None),
    "running": ("running", None),
    "waiting_retry": ("pending", None),
    "waiting_steps": ("running", None),
    "awaiting_person": ("pending", None),
    "outcome_unknown": ("failed", "failure"),
    "completed": ("completed", "success"),
    "failed": ("failed", "failure"),
    "timeout": ("timeout", "timeout"),
    "cancelled": ("cancelled", "cancelled"),
}
CALL = ToolCall("/parameters", 0, "0", "echo", CallRequest({}))


def test_no_status_is_without_words() -> None:
    assert set(WORDS) == {status.value for status in Status}


@pytest.mark.parametrize("status", list(Status))
def test_a_status_is_read_as_the_design_says(status: Status) -> None:
    tried = Tried(CALL, Run(status=status))
    assert (tried.status, tried.word) == WORDS[status.value]
    assert tried.is_open == (WORDS[status.value][1] is None)


def test_an_unknown_outcome_fails_with_its_code() -> None:
    error = Tried(CALL, Run(status=Status.OUTCOME_UNKNOWN)).error
    assert error is not None
    assert error["code"] == "OUTCOME_UNKNOWN"


def test_resources_are_summed_and_greatest_ones_kept() -> None:
    used = [{"cpu_ms": 1.5, "max_memory_bytes": 10}, {"cpu_ms": 2.25, "max_memory_bytes": 7, "note": "x"}]
    assert resources_total(used) == {"cpu_ms": 3.75, "max_memory_bytes": 10}
