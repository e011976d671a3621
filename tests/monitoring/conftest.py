"""The cast of the tests of figures."""

from tests.execution.fixtures import fx, leased, make_run, post

__all__ = ["fx", "leased", "make_run", "post"]
