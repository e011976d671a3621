"""The retry policy of a tool version."""

from dataclasses import replace

from registry.models import ToolVersion
from registry.retry_policies import POLICIES, Policy, policy_read

__all__ = ["POLICIES", "Policy", "policy_of", "policy_read"]


def policy_of(version: ToolVersion) -> Policy:
    """The policy of a tool version; NONE without one. Its recovery may say how many attempts there are."""
    policy = policy_read(version.declared.get("retry", "NONE"))
    most = version.declared.get("recovery", {}).get("maxAttempts")
    return replace(policy, max_retries=most - 1) if most else policy
