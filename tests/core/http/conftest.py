"""The cast of the tests of outgoing requests."""

from tests.receiver import closed_port, receiver

__all__ = ["closed_port", "receiver"]
