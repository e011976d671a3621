"""What the prepared statements read of a caller's rights to a tool, and how it becomes facts.

In a statement `p` is the persona, `o` the tool and `k` its package.
"""

import json
from collections.abc import Sequence
from typing import Any

from registry.models import ToolVersion
from registry.selectors import ResolvedTool
from security.facts import FlagFact, Policy, Standing
from security.policy.selectors import grants_by_tier, limit_read, restrictions_read
from security.principals import PersonaPrincipal
from security.tokens import grants_read

Who = tuple[int, str, bool, int | None, int, str, bool]
# The columns, in the order in which `rights_read` takes them.
RIGHTS = """
       k.name,
       EXISTS (SELECT 1 FROM registry_assignment a WHERE a.persona_id = p.id AND a.tool_id = o.id),
       EXISTS (SELECT 1 FROM registry_assignment a WHERE a.persona_id = p.id AND a.package_id = k.id),
       (SELECT array_agg(g.capability ORDER BY g.id) FROM security_grant g WHERE g.persona_id = p.id),
       (SELECT array_agg(g.expires_at ORDER BY g.id) FROM security_grant g WHERE g.persona_id = p.id),
       (SELECT array_agg(g.conditions ORDER BY g.id) FROM security_grant g WHERE g.persona_id = p.id),
       (SELECT array_agg(g.granted_by_id ORDER BY g.id) FROM security_grant g WHERE g.persona_id = p.id),
       (SELECT json_agg(json_build_array(r.is_pause, r.persona_id IS NOT NULL, r.tool, r.capability, r.reason,
                                         b.username, r.expires_at) ORDER BY r.id)
          FROM policy_restriction r JOIN security_user b ON b.id = r.created_by_id
         WHERE (r.persona_id IS NULL OR r.persona_id = p.id) AND r.tool IN ('', o.name)
           AND (r.expires_at IS NULL OR r.expires_at > clock_timestamp())),
       (SELECT json_agg(json_build_array(l.id, l.kind, l.measure, l.amount, l.window_s, l.tool,
                                         l.persona_id IS NOT NULL, CASE WHEN l.tier_id = i.id THEN i.name END)
                        ORDER BY l.id)
          FROM policy_limit l
         WHERE l.tool IN ('', o.name)
           AND (l.persona_id = p.id OR l.tier_id = s.tier_id
                OR (l.persona_id IS NULL AND l.tier_id IS NULL))),
       COALESCE(s.isolation, ''), i.name, i.capabilities, i.flags, f.name, f.state,
       o.asks_approval, o.sanitises, o.content_mode
"""
JOINS = """
  LEFT JOIN policy_standing s ON s.persona_id = p.id
  LEFT JOIN policy_tier i ON i.id = s.tier_id
  LEFT JOIN policy_flaggedtool n ON n.tool = o.name
  LEFT JOIN policy_flag f ON f.id = n.flag_id
"""


def rights_read(who: Who, version: ToolVersion, row: Sequence[Any]) -> tuple[PersonaPrincipal, ResolvedTool]:
    """The caller and the tool; `row` are the columns of RIGHTS."""
    package, by_tool, by_package, *granted, restrictions, limits = row[:9]
    isolation, tier, tier_capabilities, tier_flags, flag, flag_state, *of_tool = row[9:]
    grants = grants_read(*granted)
    standing = Standing(isolation=isolation)
    if tier is not None:
        grants += grants_by_tier(tier, json.loads(tier_capabilities))
        standing = Standing(isolation, tier, tuple(json.loads(tier_flags)))
    assigned = "by name" if by_tool else f"with the package {package}" if by_package else None
    policy = Policy(
        restrictions=restrictions_read(restrictions),
        flag=FlagFact(flag, flag_state) if flag else None,
        limits=tuple(limit_read(*limit) for limit in limits or ()),
    )
    principal = PersonaPrincipal(*who, grants, standing)
    return principal, ResolvedTool(version, assigned, policy, *of_tool)
