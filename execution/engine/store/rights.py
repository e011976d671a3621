"""What a caller's rights to a tool rest on: read by one statement, and kept until something of it changes.

Every table that the statement reads has a trigger that replaces the rights' epoch (epoch.py),
in the transaction of the change. A call reads the epoch with its token, and so learns whether what is kept
holds.
"""

import dataclasses
import functools
import json
from dataclasses import dataclass
from datetime import UTC, datetime

from execution.engine.store.statements import row_read
from registry.models import ToolVersion
from registry.selectors import ResolvedTool, Wishes, assigned_words
from security.facts import FlagFact, GrantFact, Policy, Standing
from security.policy.selectors import grants_by_tier, limit_read, restrictions_read
from security.principals import PersonaPrincipal
from security.tokens import grants_read

Who = tuple[int, str, bool, int | None, int, str, bool]
# A column of a statement that reads who calls: what `rights_of` takes.
EPOCH = "(SELECT value FROM execution_rights_epoch)"
# Of so many pairs of persona and tool the rights are kept in a process.
KEPT = 4096

RIGHTS = """
SELECT v.id, v.digest, v.state, v.state_reason, k.name,
       EXISTS (SELECT 1 FROM registry_assignment a WHERE a.persona_id = $1 AND a.tool_id = o.id),
       EXISTS (SELECT 1 FROM registry_assignment a WHERE a.persona_id = $1 AND a.package_id = k.id),
       (SELECT c.name FROM registry_assignment a JOIN registry_collectionmember m
            ON m.collection_id = a.collection_id JOIN registry_collection c ON c.id = m.collection_id
         WHERE a.persona_id = $1 AND m.tool_id = o.id ORDER BY c.name LIMIT 1),
       (SELECT array_agg(g.capability ORDER BY g.id) FROM security_grant g WHERE g.persona_id = $1),
       (SELECT array_agg(g.expires_at ORDER BY g.id) FROM security_grant g WHERE g.persona_id = $1),
       (SELECT array_agg(g.conditions ORDER BY g.id) FROM security_grant g WHERE g.persona_id = $1),
       (SELECT array_agg(g.granted_by_id ORDER BY g.id) FROM security_grant g WHERE g.persona_id = $1),
       (SELECT json_agg(json_build_array(r.is_pause, r.persona_id IS NOT NULL, r.tool, r.capability, r.reason,
                                         b.username, r.expires_at) ORDER BY r.id)
          FROM policy_restriction r JOIN security_user b ON b.id = r.created_by_id
         WHERE (r.persona_id IS NULL OR r.persona_id = $1) AND r.tool IN ('', o.name)),
       (SELECT json_agg(json_build_array(l.id, l.kind, l.measure, l.amount, l.window_s, l.tool,
                                         l.persona_id IS NOT NULL, CASE WHEN l.tier_id = i.id THEN i.name END)
                        ORDER BY l.id)
          FROM policy_limit l
         WHERE l.tool IN ('', o.name)
           AND (l.persona_id = $1 OR l.tier_id = s.tier_id
                OR (l.persona_id IS NULL AND l.tier_id IS NULL))),
       COALESCE(s.isolation, ''), i.name, i.capabilities, i.flags, f.name, f.state,
       o.asks_approval, o.sanitises, o.content_mode, o.rules
  FROM registry_tool o
  JOIN registry_package k ON k.id = o.package_id
  LEFT JOIN registry_toolversion v ON v.id = o.active_id
  LEFT JOIN policy_standing s ON s.persona_id = $1
  LEFT JOIN policy_tier i ON i.id = s.tier_id
  LEFT JOIN policy_flaggedtool n ON n.tool = o.name
  LEFT JOIN policy_flag f ON f.id = n.flag_id
 WHERE o.name = $2
"""


@dataclass(frozen=True)
class Rights:
    """Of a persona to a tool. `active` is what `version_kept` takes; None where no version is."""

    active: tuple[int, str, str, str] | None
    assigned_by: str | None
    grants: tuple[GrantFact, ...]
    standing: Standing
    policy: Policy
    wishes: Wishes

    def principal(self, who: Who) -> PersonaPrincipal:
        """Who calls, with its grants and standing."""
        return PersonaPrincipal(*who, self.grants, self.standing)

    def found(self, version: ToolVersion) -> ResolvedTool:
        """A version of the tool as a call means it now."""
        return ResolvedTool(version, self.assigned_by, self._policy_now(), *self.wishes)

    def _policy_now(self) -> Policy:
        """Without the restrictions whose end has come."""
        rows = self.policy.restrictions
        if all(one.until is None for one in rows):
            return self.policy
        now = datetime.now(UTC)
        held = tuple(one for one in rows if one.until is None or one.until > now)
        return dataclasses.replace(self.policy, restrictions=held)


def rights_of(persona_id: int, tool: str, epoch: int | None, *, alone: bool) -> Rights | None:
    """A persona's rights to a tool at an epoch, or later; None where there is no such tool.

    `alone` says that no transaction of the caller's may have changed some of it. Within such a one nothing is
    kept, nor taken from what is: its changes replace the epoch when they are committed.
    """
    if not alone or epoch is None:
        return _read(persona_id, tool)
    return _kept(persona_id, tool, epoch)


@functools.lru_cache(maxsize=KEPT)
def _kept(persona_id: int, tool: str, epoch: int) -> Rights | None:
    # What is read now may be of a later epoch than the key, never of an earlier one.
    return _read(persona_id, tool)


def _read(persona_id: int, tool: str) -> Rights | None:
    row = row_read(RIGHTS, (persona_id, tool))
    if row is None:
        return None
    version_id, digest, state, reason, package, *assigned = row[:8]
    *granted, restrictions, limits = row[8:14]
    isolation, tier, tier_capabilities, tier_flags, flag, flag_state, asks, sanitises, mode, rules = row[14:]
    grants = grants_read(*granted)
    standing = Standing(isolation=isolation)
    if tier is not None:
        grants += grants_by_tier(tier, json.loads(tier_capabilities))
        standing = Standing(isolation, tier, tuple(json.loads(tier_flags)))
    return Rights(
        active=None if version_id is None else (version_id, digest, state, reason),
        assigned_by=assigned_words(package, *assigned),
        grants=grants,
        standing=standing,
        policy=Policy(
            restrictions=restrictions_read(restrictions),
            flag=FlagFact(flag, flag_state) if flag else None,
            limits=tuple(limit_read(*limit) for limit in limits or ()),
        ),
        wishes=(asks, sanitises, mode, tuple(json.loads(rules))),
    )
