"""The tries of a self-test: what a busy machine ended is tried again, so that no tool is blamed for it."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import ToolHubError
from registry.installations.job import Job
from registry.installations.trials import Ask, Tried, trial_of
from registry.releases.draft import DraftTool

# Of one call.
STARTS_MAX = 3
# A call that had too little time gets this many times its bound once, and at least so many ms.
ROOM, ROOM_MS = 4, 10_000
# A start that works for less than this part of a tool's time is not why the tool ran out of it.
START_LEAST = 10
# How often it is measured whether the tool or its start is slow, until the start is.
ROUNDS = 3
# Before another start, in seconds, times the number of the try.
WAIT_S = 1.0


class Tries:
    """Calls tools for one installation, and writes each try that the machine ended into its log.

    `files` are the package's (path → bytes).
    """

    def __init__(self, job: Job, files: Mapping[str, bytes]) -> None:
        self.job, self.files = job, files
        self.examples = 0

    def call(
        self,
        tool: DraftTool,
        place: str,
        arguments: Mapping[str, Any] | None,
        *,
        look: bool = False,
        seed: int = 0,
    ) -> Tried:
        """Call the tool; without arguments only look for its functions.

        A start that fails is tried up to three times. A call that runs out of time is tried again with more
        time, if the tool may be called twice, and did not itself work for all of its time. Raises
        ToolHubError CANCELLED, and SANDBOX_UNAVAILABLE where the machine did not start the tool.
        """
        ask = Ask(arguments, self.job.cancelled, look, seed)
        tried = self._started(tool, place, ask)
        return self._with_room(tool, place, ask, tried) if tried.fault == "time" else tried

    def repeat(
        self, tool: DraftTool, arguments: Mapping[str, Any], seeds: Sequence[int]
    ) -> Mapping[str, Any] | None:
        """Call the tool once for each seed, at one go. Return the report (trials.py), or None without one.

        There is none where the runtime cannot, the tool fails with the first seed, or all of it takes too
        long. Raises ToolHubError CANCELLED.
        """
        tried = trial_of(tool.version.runner)(tool.version, Ask(arguments, self.job.cancelled, seeds=seeds))
        self.job.check()
        report: Mapping[str, Any] = tried.data or {}
        return report if tried.error is None and "first" in report else None

    def warn(self, code: str, message: str) -> None:
        """Write a warning into the log, and beside the review's warnings, where it stays."""
        self.job.say(f"warning: {message}")
        warning = {"code": code, "pointer": "", "message": message}
        known = self.job.installation.report.get("warnings", [])
        if warning not in known:
            self.job.write(report={**self.job.installation.report, "warnings": [*known, warning]})

    def _started(self, tool: DraftTool, place: str, ask: Ask) -> Tried:
        for number in range(1, STARTS_MAX + 1):
            tried = trial_of(tool.version.runner)(tool.version, ask)
            self.job.check()
            if tried.fault not in {"start", "killed"} or (tried.fault == "killed" and not may_repeat(tool)):
                return tried
            why = str((tried.error or {}).get("message", ""))
            self.job.say(
                f"{_named(tool, place)}: try {number} of {STARTS_MAX} was ended by the machine: {why}"
            )
            if number < STARTS_MAX:
                self.job.cancelled.wait(WAIT_S * number)
        raise ToolHubError(
            f"{_named(tool, place)}: the machine did not carry it out in {STARTS_MAX} tries. {why}"
            " That says nothing about the tool.",
            code="SANDBOX_UNAVAILABLE",
            suggestions=["Try the step again when the machine has more room."],
            data={"tool": tool.name},
        )

    def _with_room(self, tool: DraftTool, place: str, ask: Ask, first: Tried) -> Tried:
        """Tell a slow tool from a slow start: by how long the call takes beyond a bare start.

        What used a processor for all of its time was slow itself, unless its start could be what did.
        """
        bound, name = tool.version.timeout_ms, _named(tool, place)
        used = f"{name}: try 1 ran out of its {bound:,} ms, {first.cpu_ms:,.0f} ms of them at work."
        if not may_repeat(tool):
            self.job.say(f"{used} It is not tried again, as a second call could repeat an effect.")
            return first
        room = max(ROOM * bound, ROOM_MS)
        if first.cpu_ms >= bound:
            start = self._started(tool, place, dataclasses.replace(ask, arguments=None, least_ms=room))
            if start.cpu_ms * START_LEAST <= bound:
                self.job.say(
                    f"{used} A bare start works for {start.cpu_ms:,.0f} ms: the tool itself was slow."
                )
                return first
        for number in range(2, 2 + ROUNDS):
            self.job.say(f"{used} Try {number} has {room:,} ms.")
            tried = self._started(tool, place, dataclasses.replace(ask, least_ms=room))
            if tried.error is not None:
                return first if tried.fault == "time" else tried
            bare = self._started(tool, place, dataclasses.replace(ask, arguments=None, least_ms=room))
            took = (
                f"try {number} took {tried.duration_ms:,.0f} ms, of which its start took"
                f" {bare.duration_ms:,.0f} ms"
            )
            self.job.say(f"{name}: {took}.")
            # As much as a whole start is left to chance: the two were not measured at the same moment.
            if tried.duration_ms - bare.duration_ms <= bound + bare.duration_ms:
                self.warn("SLOW_START", f"{name}: it ran out of its {bound:,} ms on a busy machine; {took}.")
                return tried
        return first


def may_repeat(tool: DraftTool) -> bool:
    """Whether a second call of the tool repeats no effect."""
    return tool.version.is_pure or tool.version.is_idempotent


def _named(tool: DraftTool, place: str) -> str:
    return f"{tool.name}, {place}" if place else tool.name
