"""What the runners of code from outside share: level, limits, the sandbox, and what its end means."""

import dataclasses
import errno
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from django.conf import settings

from core.errors import ToolHubError, error_object
from execution.engine.call import Call, unsaid
from execution.engine.outcomes import Outcome, failure, files_view
from execution.models import Status
from execution.run_events import ARTEFACTS_KEPT, NETWORK_REACHED, PRINTED
from execution.runners.admission import admission_check
from execution.runners.bounds import limits_of, minimum_level, network_of
from execution.runners.causes import cause_text, hosts_refused
from execution.runners.folders import mounts_of, variables_of
from execution.runners.judging import cancelled_error, ended, timeout_error
from execution.runners.printed import Printed
from execution.side_effects import SideEffect
from registry.store import release_folder
from security.sandbox import gate_place
from security.sandbox.launch import WORK, Finished, Launch, Limits, Mount
from security.sandbox.probes import level_choose, probe
from security.sandbox.remedies import start_failed
from security.sandbox.run import Take, sandbox_run
from security.sandbox.warm import warm_run
from toolhub_sdk.repeatable import repeatable_variables

log = logging.getLogger(__name__)
PACKAGE = "/toolhub/package"
PATH = "/usr/local/bin:/usr/bin:/bin"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# Names that change how programs are loaded, not what they do.
_FORBIDDEN = ("LD_", "PYTHON", "TOOLHUB_", "GCONV_PATH", "PATH", "HOME", "TMPDIR")
# What callers may know of why nothing was run.
_TOLD = frozenset({"probes", "resource", "needed", "free", "most"})
# Every common client reads some of these; its own network has nothing else that answers.
PROXIES = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), gate_place.ADDRESS)
# Beyond it an exit code means a signal (Finished.exit_code).
_CODES_MOST = 128
_EXCEEDED = {
    "memory": "more memory than {memory_bytes} bytes",
    "cpu": "more processor time than {cpu_ms} ms",
    "disk": "more than {disk_bytes} bytes or {files} files in its work folder",
    "folder": "more room in its session's folder than it may; the session's end empties it",
    "output": "more output than it may",
}


@dataclass(frozen=True)
class Program:
    """What a runner wants run: the command, its input, and the folders that it needs beside the package.

    Programs with `prepare` (see Launch) may be started before their input is there; with `marks` they say
    when the tool's code begins; with `goodbye` one that was started in vain ends by itself. `extra_bytes` of
    memory are for what carries the tool out.
    """

    argv: Sequence[str]
    stdin: bytes
    mounts: Sequence[Mount] = ()
    cwd: str = WORK
    prepare: str = ""
    marks: bool = False
    goodbye: bool = False
    extra_bytes: int = 0


Prepare = Callable[[Call], Program]
Judge = Callable[[Call, Finished, datetime], Outcome]


def run_sandboxed(call: Call, prepare: Prepare, judge: Judge, on_output: Take | None = None) -> Outcome:
    """Runs a program for a call and judges its end; never raises for what the tool does.

    `judge` is asked where the program ended by itself. The outcome says what held the tool and what it used.
    """
    entered = time.monotonic()
    try:
        release, printed = call.version.release, Printed(call)
        admission_check(call.tool, call.version.declared)
        why = "which a tool that reaches hosts needs" if network_of(call) else ""
        level = level_choose(minimum_level(call), reviewed=release.is_reviewed, why=why)
        program, folder = _prepared(call, prepare)
        if call.start_left() <= 0:
            raise _start_late(call)
        limits = limits_of(call)
        named = mounts_of(call)
        launch = Launch(
            argv=program.argv,
            level=level,
            stdin=program.stdin,
            mounts=(Mount(folder, PACKAGE), *program.mounts, *named),
            environment=environment_of(call) | variables_of(named) | (PROXIES if network_of(call) else {}),
            network=network_of(call),
            cwd=program.cwd,
            limits=dataclasses.replace(limits, memory_bytes=limits.memory_bytes + program.extra_bytes),
            prepare=program.prepare,
            marks=program.marks,
            goodbye=program.goodbye,
            secrets=_secrets(call),
        )
        started_at = datetime.now(UTC)
        waits = program.prepare and not call.fresh and _may_wait(launch)
        perform = warm_run if waits else sandbox_run
        prepared_ms = (time.monotonic() - entered) * 1000
        done = perform(launch, call.cancelled, on_output, proc=probe(level).proc, listener=printed)
        done = dataclasses.replace(done, start_ms=round(prepared_ms + done.start_ms, 3))
    except ToolHubError as error:
        return refused(call, error)
    held: dict[str, Any] = {"level": level.value, "filter": done.filter_hash, "limits": limits.as_dict()}
    held["cgroup"] = list(done.cgroup)
    return held_outcome(call, done, limits, started_at, judge, held, printed)


def held_outcome(
    call: Call,
    done: Finished,
    limits: Limits,
    started_at: datetime,
    judge: Judge,
    held: dict[str, Any],
    printed: Printed | None = None,
) -> Outcome:
    """The outcome of code that was held, with `held` and what came of it beside its result.

    What never began had no effect, however it ended.
    """
    _log_keep(call, done.log)
    outcome = hosts_refused(call, _outcome(call, done, limits, started_at, judge), done.reached)
    printed = printed or Printed(call)
    told = [(PRINTED, data) for data in printed.rest(done, outcome.status is Status.COMPLETED)]
    files, kept_back = _files_kept(call, done)
    if done.reached:
        held["network"] = unsaid(call, [each.as_dict() for each in done.reached])
        told.append((NETWORK_REACHED, {"hosts": held["network"]}))
    if files:
        held["artefacts"] = files_view(files)
        told.append((ARTEFACTS_KEPT, {"artefacts": held["artefacts"]}))
    return dataclasses.replace(
        outcome,
        duration_ms=done.duration_ms,
        resources={**done.resources, "start_ms": done.start_ms},
        start_ms=done.start_ms,
        sandbox=held,
        side_effect=outcome.side_effect if done.begun else SideEffect.NONE,
        told=told,
        files=files,
        warnings=(*outcome.warnings, *_skipped(done), *kept_back),
    )


def _files_kept(call: Call, done: Finished) -> tuple[list[tuple[str, bytes]], list[str]]:
    """The files without those that hold what must not be told, and a warning where one does."""
    hidden = call.redactor
    if hidden is None:
        return list(done.files), []
    kept = [file for file in done.files if not any(map(hidden.is_in, (file[0].encode(), file[1])))]
    left = len(done.files) - len(kept)
    why = f"{left} of its files were left out: something in them must not be told."
    return kept, [why] if left else []


def _start_late(call: Call) -> ToolHubError:
    return start_failed(f"The start of {call.tool} took longer than {settings.START_MAX_S} s.")


def _start_ended(call: Call, done: Finished) -> ToolHubError:
    if done.how == "start":
        return _start_late(call)
    return start_failed(f"{call.tool} was ended from outside before its code began.")


def _was_ended(done: Finished) -> bool:
    """Whether the machine ended a start: no bound of the tool, nor its code, nor its caller."""
    by_signal = done.how == "exited" and not done.asked and _of_exit(done.exit_code) is SideEffect.POSSIBLE
    return done.how in {"start", "killed"} or by_signal


def _may_wait(launch: Launch) -> bool:
    """Whether a program that was started before may serve this call: not where it gets what is one run's."""
    return all(mount.most_bytes is None for mount in launch.mounts)


def _skipped(done: Finished) -> list[str]:
    return [f"The file {name} was not kept: {why}." for name, why in done.skipped]


def _prepared(call: Call, prepare: Prepare) -> tuple[Program, str]:
    """The program, and the folder of its package. Raises ToolHubError, for whatever the disk says, too."""
    try:
        return prepare(call), str(release_folder(call.version.release))
    except OSError as error:
        log.exception("the files of %s could not be made ready", call.tool)
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        why = "its disk has no room left" if full else "its disk failed"
        raise ToolHubError(
            f"The worker could not make the files of {call.tool} ready: {why}.",
            code="RESOURCE_EXCEEDED" if full else "INTERNAL",
            recoverable=True,
            retryable=True,
            suggestions=["Tell an admin, and call it again: nothing of it was run."],
        ) from error


def refused(call: Call, error: ToolHubError, side_effect: SideEffect = SideEffect.NONE) -> Outcome:
    """The outcome where the sandbox, or the release's files, could not be had: usually, nothing was run."""
    now = datetime.now(UTC)
    if error.code == "CANCELLED":
        return Outcome(Status.CANCELLED, now, now, 0.0, error=cancelled_error(), side_effect=side_effect)
    log.error("%s was not run: %s %s", call.tool, error, error.data)
    data = {name: value for name, value in error.data.items() if name in _TOLD}
    made = error_object(
        error.code,
        error.message,
        recoverable=error.recoverable,
        retryable=error.retryable,
        suggestions=error.suggestions,
        details=data,
    )
    return Outcome(Status.FAILED, now, now, 0.0, error=made, side_effect=side_effect)


def environment_of(call: Call) -> dict[str, str]:
    """All that the tool sees of an environment: the usual few, and what its contract names."""
    declared: Mapping[str, Any] = call.version.declared.get("environment", {})
    own = {name: str(value) for name, value in declared.items() if _is_passed(name, str(value))}
    fixed = repeatable_variables(call.version.determinism, call.seed)
    return {"PATH": PATH, "HOME": WORK, "TMPDIR": WORK, "LANG": "C.UTF-8", **fixed, **own}


def _secrets(call: Call) -> bytes | None:
    """A JSON object of texts by name; None for a tool without."""
    return orjson.dumps(dict(call.settings.secrets)) if call.settings.secrets else None


def _is_passed(name: str, value: str) -> bool:
    return bool(_NAME.fullmatch(name)) and not name.startswith(_FORBIDDEN) and "\0" not in value


def _outcome(call: Call, done: Finished, limits: Limits, started_at: datetime, judge: Judge) -> Outcome:
    def stopped(status: Status, error: dict[str, Any]) -> Outcome:
        return ended(status, error, started_at=started_at, duration_ms=done.duration_ms)

    if not done.begun and _was_ended(done):
        return stopped(Status.FAILED, _start_ended(call, done).as_error())
    if done.how == "exited":
        return judge(call, done, started_at)
    if done.how == "timeout":
        return stopped(Status.TIMEOUT, timeout_error(call))
    if done.how == "cancelled":
        return stopped(Status.CANCELLED, cancelled_error())
    if done.how in _EXCEEDED:
        used = _EXCEEDED[done.how].format(**limits.as_dict())
        error = error_object("RESOURCE_EXCEEDED", f"{call.tool} used {used}.", details={"resource": done.how})
        return stopped(Status.FAILED, error)
    error = error_object(
        "EXECUTION_FAILED",
        f"What watched over {call.tool} was ended from outside.",
        details={"ended_by": "machine"},
    )
    return stopped(Status.FAILED, error)


def exit_failed(call: Call, done: Finished, started_at: datetime) -> Outcome:
    """The program ended without an answer: of the signal that told it to stop, or by a mistake."""
    if done.asked:
        return ended(Status.CANCELLED, cancelled_error(), started_at=started_at, duration_ms=done.duration_ms)
    log_text = str(unsaid(call, done.log.decode(errors="replace"))).strip()
    said = cause_text(call, log_text.rpartition("\n")[2])
    printed = f" It printed: {said}" if said else ""
    message = f"{call.tool} ended with exit code {done.exit_code} and without a result.{printed}"
    made = failure("EXECUTION_FAILED", message, at=datetime.now(UTC), side_effect=_of_exit(done.exit_code))
    return dataclasses.replace(made, started_at=started_at)


def _of_exit(code: int | None) -> SideEffect:
    """A program that a signal ended was stopped in its midst; its own exit code is its own word."""
    by_itself = code is not None and 0 <= code <= _CODES_MOST
    return SideEffect.DONE if by_itself else SideEffect.POSSIBLE


def _log_keep(call: Call, said: bytes) -> None:
    """The end of what the tool printed, for the hub's log."""
    if said:
        # Before it is cut: half of a secret would not be found.
        text = unsaid(call, said.decode(errors="replace"))
        log.info("%s %s printed: %r", call.tool, call.run_id, text[-2000:])
