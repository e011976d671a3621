"""The report: ratios of one round, goals met and missed, and a bound for the time."""

import pytest

from bench.arms import Goal
from bench.budget import Budget
from bench.checkout import commit_checkout
from bench.load import BenchError
from bench.report import throughput_lines
from bench.server import ROOT
from bench.throughput import Sample, Throughput


def found(*samples: Sample, sides: tuple[str, ...] = ("here",)) -> str:
    return "\n".join(throughput_lines(Throughput("PostgreSQL", [*sides], rounds=3, samples=[*samples])))


def sample(arm: str, number: int, rate: float, *, side: str = "here", clients: int = 32) -> Sample:
    return Sample(side, arm, clients, number, rate, 1000 * clients / rate)


def test_a_ratio_is_that_of_one_round_and_the_median_of_all() -> None:
    """The machine was slow in the second round, for both."""
    text = found(
        *(sample("echo", number, rate) for number, rate in enumerate([100.0, 10.0, 100.0])),
        *(sample("mcp", number, rate) for number, rate in enumerate([90.0, 8.5, 70.0])),
    )
    assert "mcp / echo at 32: req/s 0.85 (0.70 to 0.90); goal at least 0.8: met" in text


def test_a_goal_that_is_missed_is_told() -> None:
    assert "mcp / echo at 32: req/s 0.79 (0.79 to 0.79); goal at least 0.8: MISSED" in found(
        sample("echo", 0, 100.0), sample("mcp", 0, 79.0)
    )
    assert "isolated at 1: p50 12.5 ms; goal at most 10: MISSED" in found(
        sample("isolated", 0, 80.0, clients=1)
    )


def test_another_commit_is_compared_arm_by_arm() -> None:
    both = (sample("echo", 0, 96.0), sample("echo", 0, 100.0, side="abc1234"))
    text = found(*both, sides=("here", "abc1234"))
    assert "echo, here / abc1234 at 32: req/s 0.96 (0.96 to 0.96); goal at least 0.95: met" in text
    assert "echo abc1234" in text


def test_a_ratio_needs_both_arms_in_the_same_round() -> None:
    assert "mcp / echo" not in found(sample("echo", 0, 100.0), sample("mcp", 1, 100.0))


@pytest.mark.parametrize(
    ("goal", "met", "missed"),
    [(Goal("rate", 2.0), 2.0, 1.99), (Goal("p50_ms", 0.6), 0.6, 0.61), (Goal("memory_mb", 400), 400, 401)],
)
def test_a_rate_is_to_reach_a_goal_and_what_is_spent_not_to_pass_it(
    goal: Goal, met: float, missed: float
) -> None:
    assert goal.is_met(met)
    assert not goal.is_met(missed)


def test_rounds_end_before_the_time_does() -> None:
    now = 0.0

    def took(budget: Budget, *seconds: float) -> int:
        nonlocal now
        done = 0
        for number in budget.rounds(len(seconds)):
            now += seconds[number]
            done += 1
        return done

    whole = Budget(100.0, lambda: now)
    assert took(whole.part(0.5), 10, 10, 10) == 3
    assert took(whole.part(0.5), 10, 20, 10) == 2  # 5 of 35 are left, and 20 may be needed
    assert took(Budget(5.0, lambda: now), 60, 60) == 1  # there is always one
    assert whole.spent_s == 120.0


def test_a_commit_that_is_none_is_told(tmp_path: object) -> None:
    with pytest.raises(BenchError, match="git rev-parse failed"), commit_checkout("no-such-commit", ROOT):
        pass
