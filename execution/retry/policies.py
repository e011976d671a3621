"""Retry policies: the four that have names, and what a contract declares in full."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from registry.models import ToolVersion

NO_BACKOFF: Mapping[str, Any] = {"type": "none"}


@dataclass(frozen=True)
class Policy:
    """When an attempt is repeated. `backoff` as in a manifest, in ms; without `retryable` after any code."""

    max_retries: int
    backoff: Mapping[str, Any] = field(default_factory=lambda: NO_BACKOFF)
    retryable: tuple[str, ...] | None = None
    non_retryable: tuple[str, ...] = ()
    retry_if: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As a manifest writes it; what is not set is left out."""
        members = {
            "maxRetries": self.max_retries,
            "backoff": dict(self.backoff),
            "retryableErrors": None if self.retryable is None else list(self.retryable),
            "nonRetryableErrors": list(self.non_retryable) or None,
            "retryIf": self.retry_if or None,
        }
        return {name: value for name, value in members.items() if value is not None}


_TRANSIENT = ("TIMEOUT", "RATE_LIMIT", "NETWORK")
_EXPONENTIAL = {"type": "exponential", "baseDelay": 1000, "maxDelay": 30_000, "multiplier": 2}
_EAGER = {"type": "exponential", "baseDelay": 500, "maxDelay": 60_000, "multiplier": 2}

POLICIES: Mapping[str, Policy] = {
    "NONE": Policy(0),
    "QUICK": Policy(3, {"type": "fixed", "delay": 1000}, _TRANSIENT),
    "STANDARD": Policy(3, _EXPONENTIAL, (*_TRANSIENT, "SERVER_ERROR")),
    "AGGRESSIVE": Policy(
        5, {"type": "jittered", "base": _EAGER, "jitter": 0.1}, (*_TRANSIENT, "SERVER_ERROR", "LOCK")
    ),
}


def policy_read(declared: str | Mapping[str, Any]) -> Policy:
    """The policy that a contract names or writes out."""
    if isinstance(declared, str):
        return POLICIES[declared]
    codes = declared.get("retryableErrors")
    return Policy(
        declared["maxRetries"],
        declared.get("backoff", NO_BACKOFF),
        None if codes is None else tuple(codes),
        tuple(declared.get("nonRetryableErrors", ())),
        declared.get("retryIf", ""),
    )


def policy_of(version: ToolVersion) -> Policy:
    """The policy of a tool version; NONE without one. Its recovery may say how many attempts there are."""
    policy = policy_read(version.declared.get("retry", "NONE"))
    most = version.declared.get("recovery", {}).get("maxAttempts")
    return replace(policy, max_retries=most - 1) if most else policy
