"""The bench of decisions prints each case, and fails where a median is too long."""

import json
from io import StringIO

from django.core.management import call_command

from bench.decision import TITLES, Decisions, decision_lines, faults_of
from bench.management.commands.bench_decision import Command


def test_each_case_is_decided_as_it_says_and_printed() -> None:
    """The command itself raises where a case is not decided as it should be."""
    out = StringIO()
    call_command(Command(), rounds=1, stdout=out)
    times = json.loads(out.getvalue())
    assert set(times) == set(TITLES)
    lines = decision_lines(Decisions(times))
    assert all(any(title in line for line in lines) for title in TITLES.values())


def test_a_median_above_a_millisecond_is_a_fault() -> None:
    assert faults_of({"plain": {"p50": 999.0, "p99": 5000.0}}) == []
    assert len(faults_of({"plain": {"p50": 1001.0, "p99": 5000.0}})) == 1
