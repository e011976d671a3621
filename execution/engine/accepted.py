"""A call that passed every check, and the row that it becomes."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from core.clock import uuid7
from core.json.canonical import canonical
from core.rows import row_make
from execution.engine.requests import Bounds, CallRequest, at_once_of
from execution.engine.runtimes import RUNTIMES
from execution.engine.store.known import Proof
from execution.models import IdempotencyKey, Run, Status
from registry.models import ToolVersion
from registry.selectors import ResolvedTool
from security.content.violation import Violation
from security.decisions import Check
from security.facts import LimitFact
from security.policy.usage import booked_later
from security.principals import PersonaPrincipal

KEY_LIVES = timedelta(hours=24)


@dataclass(frozen=True)
class Accepted:
    """A call that passed every check, ready to be written. `arguments` is their canonical form."""

    principal: PersonaPrincipal
    found: ResolvedTool
    request: CallRequest
    bounds: Bounds
    arguments: bytes
    warnings: tuple[str, ...]
    # What allowed it, in the decision's words, for the record.
    grounds: tuple[str, ...] = ()
    # What looks like an attack in the arguments, where that is recorded only.
    violations: tuple[Violation, ...] = ()
    # What a person has to settle before it may begin.
    asks: Check | None = None
    key: str | None = None
    # What has to hold yet when it is written; None where that was read for this call.
    proof: Proof | None = None

    @property
    def version(self) -> ToolVersion:
        return self.found.version

    @property
    def limits(self) -> tuple[LimitFact, ...]:
        """What it counts against when it is accepted."""
        return self.found.policy.limits

    def run(self, *, inline: bool) -> Run:
        """The row, not yet written."""
        now = timezone.now()
        columns = {
            "id": uuid7(),
            "persona_id": self.principal.persona_id,
            "token_id": self.principal.token_id,
            "responsible_id": None if self.principal.token_id else self.principal.responsible_id,
            "origin_id": self.request.origin,
            "parent_id": self.request.parent,
            "root": self.request.root,
            "depth": self.request.depth,
            "tool_version_id": self.version.pk,
            "tool": self.version.tool.name,
            "status": Status.PENDING,
            "queue": RUNTIMES[self.version.runner].queue,
            "session": self.request.session,
            "at_once": at_once_of(self.version),
            "inline": inline,
            "arguments": self.request.arguments,
            "arguments_hash": hashlib.sha256(self.arguments).digest(),
            "salt": secrets.token_bytes(16),
            "request": self._recorded(),
            "timeout_ms": self.bounds.timeout_ms,
            "max_output_bytes": self.bounds.max_output_bytes,
            "warnings": list(self.warnings),
            "created_at": now,
            "due_at": now,
            "metered": booked_later(self.limits, self.principal.persona_id),
        }
        run = row_make(Run, columns)
        run.tool_version = self.version
        return run

    def _recorded(self) -> dict[str, Any]:
        """The request with the isolation that is in force, which the persona may have made stricter, and
        with what looks like an attack in the arguments.
        """
        wanted = self.bounds.isolation
        found = [one.as_dict() for one in self.violations]
        more = {"isolation_level": wanted, "violations": found}
        return self.request.recorded() | {name: value for name, value in more.items() if value}

    def key_row(self, run: Run) -> IdempotencyKey:
        """The idempotency key's row; two of one key and persona cannot both be written."""
        return IdempotencyKey(
            persona_id=self.principal.persona_id,
            key=self.key or "",
            request_hash=self.request_hash(),
            run=run,
            expires_at=timezone.now() + KEY_LIVES,
        )

    def request_hash(self) -> bytes:
        """SHA-256 over tool, version, the whole request and the run that it repeats."""
        whole: dict[str, Any] = {"arguments": self.request.arguments, "version": self.version.digest}
        if self.request.origin:
            whole["origin"] = str(self.request.origin)
        return hashlib.sha256(canonical(whole | self.request.recorded())).digest()
