"""Limits tighten only."""

from collections.abc import Callable
from typing import Any

import pytest

from execution.models import Run
from registry.models import Package

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]


def test_a_tighter_wish_holds(call: Call, fx: Package) -> None:
    body = {"arguments": {"size": 20}, "limits": {"maxOutputBytes": 21, "timeoutMs": 900}}
    answer = call("fx_big", body=body).json()
    assert answer["error"]["code"] == "RESOURCE_EXCEEDED"
    run = Run.objects.get()
    assert (run.timeout_ms, run.max_output_bytes) == (900, 21)


def test_a_looser_wish_is_ignored_with_a_warning(call: Call, fx: Package) -> None:
    body = {"arguments": {"size": 200}, "limits": {"maxOutputBytes": 10_000, "timeoutMs": 5000}}
    answer = call("fx_big", body=body).json()
    assert answer["error"]["code"] == "RESOURCE_EXCEEDED"
    assert answer["metadata"]["warnings"] == [
        "limits.maxOutputBytes was ignored: the tool allows at most 100.",
        "limits.timeoutMs was ignored: the tool allows at most 1000.",
    ]
    run = Run.objects.get()
    assert (run.timeout_ms, run.max_output_bytes) == (1000, 100)


def test_less_isolation_is_ignored_with_a_warning(call: Call, fx: Package) -> None:
    answer = call("fx_echo", body={"arguments": {"value": 1}, "isolation_level": "none"}).json()
    assert answer["success"] is True
    assert answer["metadata"]["warnings"] == [
        "isolation_level none was ignored: a call may only ask for more isolation."
    ]


def test_isolation_that_is_given_anyway_is_no_matter(call: Call, fx: Package) -> None:
    answer = call("fx_echo", body={"arguments": {"value": 1}, "isolation_level": "basic"}).json()
    assert (answer["success"], answer["metadata"]["warnings"]) == (True, [])
