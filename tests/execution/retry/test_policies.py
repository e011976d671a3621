"""The named policies have S0's figures, and the waits are those of its formulas, worked out by hand."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from execution.features.retry.backoff import delay_ms
from execution.features.retry.judge import is_retried
from execution.features.retry.policies import POLICIES, Policy, policy_read
from execution.models import Run

EXPONENTIAL = {"type": "exponential", "baseDelay": 1000, "maxDelay": 30_000, "multiplier": 2}
EAGER = {"type": "exponential", "baseDelay": 500, "maxDelay": 60_000, "multiplier": 2}
JITTERED = {"type": "jittered", "base": EAGER, "jitter": 0.1}
NAMED = [
    {"name": "NONE", "maxRetries": 0, "backoff": {"type": "none"}},
    {
        "name": "QUICK",
        "maxRetries": 3,
        "backoff": {"type": "fixed", "delay": 1000},
        "retryableErrors": ["TIMEOUT", "RATE_LIMIT", "NETWORK"],
    },
    {
        "name": "STANDARD",
        "maxRetries": 3,
        "backoff": EXPONENTIAL,
        "retryableErrors": ["TIMEOUT", "RATE_LIMIT", "NETWORK", "SERVER_ERROR"],
    },
    {
        "name": "AGGRESSIVE",
        "maxRetries": 5,
        "backoff": JITTERED,
        "retryableErrors": ["TIMEOUT", "RATE_LIMIT", "NETWORK", "SERVER_ERROR", "LOCK"],
    },
]


@pytest.mark.django_db
def test_the_named_policies_are_told(client: Client, token_text: str) -> None:
    answer = client.get("/api/v1/retry-policies", HTTP_AUTHORIZATION=f"Bearer {token_text}")
    assert (answer.status_code, answer.json()) == (200, {"policies": NAMED})


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_in_full_reads_as_the_named_one(name: str) -> None:
    assert policy_read(POLICIES[name].as_dict()) == policy_read(name) == POLICIES[name]


# The waits after 1, 2, 3 … failed attempts, in ms, by hand.
TABLE: list[tuple[Mapping[str, Any], list[int]]] = [
    ({"type": "none"}, [0, 0, 0]),
    ({"type": "fixed", "delay": 1000}, [1000, 1000, 1000]),
    ({"type": "linear", "baseDelay": 200, "increment": 300}, [200, 500, 800, 1100]),
    ({"type": "linear", "baseDelay": 200, "increment": 300, "maxDelay": 600}, [200, 500, 600, 600]),
    (EXPONENTIAL, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]),
    (EAGER, [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]),
    ({"type": "exponential", "baseDelay": 100, "maxDelay": 10_000, "multiplier": 1.5}, [100, 150, 225, 338]),
    ({"type": "exponential", "baseDelay": 0, "maxDelay": 10_000, "multiplier": 100}, [0, 0]),
]


@pytest.mark.parametrize(("backoff", "waits"), TABLE)
def test_the_waits_are_those_worked_out_by_hand(backoff: Mapping[str, Any], waits: list[int]) -> None:
    assert [delay_ms(backoff, failed) for failed in range(1, len(waits) + 1)] == waits


@pytest.mark.parametrize(
    ("drawn", "waits"), [(-1.0, [450, 900, 1800]), (0.0, [500, 1000, 2000]), (0.5, [525])]
)
def test_jitter_adds_or_takes_a_part_of_the_wait(drawn: float, waits: list[int]) -> None:
    assert [delay_ms(JITTERED, n, lambda _low, _high: drawn) for n in range(1, len(waits) + 1)] == waits


@given(st.integers(1, 21))
def test_jittered_waits_stay_within_their_tenth(failed: int) -> None:
    base = delay_ms(EAGER, failed)
    assert abs(delay_ms(JITTERED, failed) - base) <= base / 10 + 1


@given(st.integers(0, 3_600_000), st.integers(0, 3_600_000), st.floats(1, 100), st.integers(1, 21))
def test_no_wait_is_above_its_bound(base: int, most: int, multiplier: float, failed: int) -> None:
    grows = {"type": "exponential", "baseDelay": base, "maxDelay": most, "multiplier": multiplier}
    assert 0 <= delay_ms(grows, failed) <= most
    assert delay_ms(grows, failed) <= delay_ms(grows, failed + 1)


def error(code: str = "TIMEOUT", *, recoverable: bool = True) -> dict[str, Any]:
    return {"code": code, "recoverable": recoverable, "details": {"left": 1}}


# policy, error, failed attempts, whether it is repeated
JUDGED = [
    (Policy(3), error(), 1, True),
    (Policy(3), error(recoverable=False), 1, False),
    (Policy(3, retryable=("TIMEOUT",)), error(recoverable=False), 1, False),
    (Policy(3, retryable=("TIMEOUT",)), error("NETWORK"), 1, False),
    (Policy(3, retryable=()), error(), 1, False),
    (Policy(3, non_retryable=("TIMEOUT",)), error(), 1, False),
    (Policy(3, retryable=("TIMEOUT",), non_retryable=("TIMEOUT",)), error(), 1, False),
    (Policy(3, retry_if="attempt < 2"), error(), 1, True),
    (Policy(3, retry_if="attempt < 2"), error(), 2, False),
    (Policy(3, retry_if="error.details.left > 0"), error(), 1, True),
    (Policy(3, retry_if="error.details.missing > 0"), error(), 1, False),
    (Policy(3, retry_if="1"), error(), 1, False),
    (Policy(3, retry_if="arguments.left == 1 && context.session_id == 'default'"), error(), 1, True),
]


@pytest.mark.parametrize(("policy", "failed_with", "failed", "repeated"), JUDGED)
def test_lists_and_conditions_decide(
    policy: Policy, failed_with: dict[str, Any], failed: int, repeated: bool
) -> None:
    run = Run(arguments={"left": 1}, request={})
    assert is_retried(run, policy, failed_with, failed) is repeated
