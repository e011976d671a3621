"""What several features lock, in the one order in which everybody locks."""

from execution.engine.features import LockKind
from security.policy.usage import usage_rows_lock

# After all that a feature locks of its own.
USAGE = LockKind(90, usage_rows_lock)
"""Rows that count how much of limits is used; keys are `(limit, whose)`."""
