"""A receiver that says how a resource is."""

from tests.receiver import receiver

__all__ = ["receiver"]
