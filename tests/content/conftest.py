"""The cast of the tests of content checks."""

from tests.execution.fixtures import fx

__all__ = ["fx"]
