"""The cast of the tests of what is owed to addresses outside."""

from tests.receiver import closed_port, receiver

__all__ = ["closed_port", "receiver"]
