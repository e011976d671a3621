"""The cast of the tests of runs."""

from tests.execution.fixtures import declare, fx, keeper, leased, make_run, post

__all__ = ["declare", "fx", "keeper", "leased", "make_run", "post"]
