"""What a decision rests on, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from security.conditions import Condition
from security.content.violation import Violation

TokenState = Literal["valid", "expired", "revoked", "none"]


@dataclass(frozen=True)
class GrantFact:
    """A grant: capability, expiry (UTC; None for no end), and conditions on a call's arguments.

    `tier` is the tier that brings it; empty for the persona's own. `granted_by` is the person, 0 for nobody.
    """

    capability: str
    expires_at: datetime | None
    conditions: tuple[Condition, ...] = ()
    tier: str = ""
    granted_by: int = 0
    # The session that a decision found it to count in.
    session: str = ""


@dataclass(frozen=True)
class RestrictionFact:
    """A restriction or pause that is in force and names this persona and tool, or neither.

    `by` is who made it; `until` its end (UTC; None for no end).
    """

    is_pause: bool
    of_persona: bool
    tool: str
    capability: str
    reason: str
    by: str
    until: datetime | None


@dataclass(frozen=True)
class Standing:
    """What holds for the persona as a whole: the least isolation of its calls (empty: as tools ask), its
    tier, and the flags that the tier has.
    """

    isolation: str = ""
    tier: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class FlagFact:
    """The flag that a tool needs, and whether it is `off`, `on`, or left to `tiers`."""

    name: str
    state: str


@dataclass(frozen=True)
class ContentFact:
    """What looks like an attack in the arguments, and the tool's mode: to `record` or to `block` it."""

    mode: str
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class LimitFact:
    """A limit that a call counts against: at most `most` of `measure` (calls, seconds as ms, bytes) in
    `window_s` seconds. `of` says whose, in words; `together` counts all personas as one.

    `used` is None where nobody looked yet; `ends_at` is when the window is over, None before its first call.
    """

    id: int
    kind: str
    measure: str
    most: int
    window_s: int
    of: str
    together: bool
    used: int | None = None
    ends_at: datetime | None = None


@dataclass(frozen=True)
class Policy:
    """What the hub's rules say of calls of one tool by one persona."""

    restrictions: tuple[RestrictionFact, ...] = ()
    flag: FlagFact | None = None
    limits: tuple[LimitFact, ...] = ()


@dataclass(frozen=True)
class CallFacts:
    """All that a decision rests on."""

    now: datetime
    persona: str
    persona_active: bool
    token_state: TokenState
    responsible_active: bool
    tool: str
    version: str
    version_state: Literal["active", "deprecated", "yanked", "quarantined"]
    # Why it is deprecated or withdrawn, as a person wrote it.
    version_reason: str = field(default="", kw_only=True)
    # What assigns the tool to the persona, in words; None when nothing does.
    assigned_by: str | None
    required: tuple[str, ...]
    grants: tuple[GrantFact, ...]
    policy: Policy = field(default=Policy(), kw_only=True)
    standing: Standing = field(default=Standing(), kw_only=True)
    # None where no call is made yet, as in a list of tools: then conditions count as met.
    arguments: Mapping[str, Any] | None = field(default=None, kw_only=True)
    # None where nothing was looked at: no field of a known kind, checks off, no arguments yet.
    content: ContentFact | None = field(default=None, kw_only=True)
    # Why the tool wants each call approved, and who approved this one; empty where neither is.
    asks: str = field(default="", kw_only=True)
    approved: str = field(default="", kw_only=True)
    # The session that the call is in, as its caller names it; empty where it names none.
    session: str = field(default="", kw_only=True)
    # The person whose grants do not approve in advance: who answers for the caller, while four eyes hold.
    same_eyes: int = field(default=0, kw_only=True)
