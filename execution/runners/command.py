"""The command runner: any program of a release, one JSON request in, one JSON result out, in the sandbox.

The request is `{arguments, context, tool, config}` on standard input; secrets come on a descriptor of their
own. With exit code 0, standard output is the result. With any other, it may be the tool's own error: `{code,
message, recoverable, suggestions}`.
"""

import posixpath
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from core.errors import ToolHubError, error_object
from core.json.strict import DEFAULT, Limits, StrictJSONError, loads
from execution.engine.outcomes import Outcome, success
from execution.models import Status
from execution.runners.call import Call
from execution.runners.defaults import arguments_of
from execution.runners.judging import ended, error_read, given, tool_error, unfit_error
from execution.runners.machine_paths import told
from execution.runners.sandboxed import PACKAGE, PATH, Program, exit_failed, run_sandboxed
from registry.environment_calls import environment_folder
from registry.environments import ENVIRONMENTS
from registry.node_environments import node_link
from registry.store import release_folder
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import Finished, Mount

# Where the program that looks stands inside.
_LOOK = "/toolhub/look.py"


def run(call: Call) -> Outcome:
    """Runs a release's program in the sandbox. Where it is only to be looked at, nothing of it is run."""
    if call.look:
        looked = run_sandboxed(call, _looking, _looked)
        if call.look == "only" or looked.status is not Status.COMPLETED:
            return looked
    return run_sandboxed(call, _program, judge)


def _looking(call: Call) -> Program:
    """The program that looks at the tool's, with the same folders (program_look.py)."""
    meant = _program(call)
    mounts = [
        *meant.mounts,
        *interpreter_mounts(),
        Mount(str(Path(__file__).parent / "program_look.py"), _LOOK),
    ]
    return Program([interpreter(), "-P", "-s", "-S", "-B", _LOOK, *meant.argv], b"", mounts, PACKAGE)


def _looked(call: Call, done: Finished, started_at: datetime) -> Outcome:
    try:
        problems = loads(done.stdout)
    except StrictJSONError:
        return exit_failed(call, done, started_at)
    if isinstance(problems, list) and problems:
        return ended(
            Status.FAILED, unfit_error(problems), started_at=started_at, duration_ms=done.duration_ms
        )
    return success(None, started_at=started_at, ended_at=datetime.now(UTC), duration_ms=done.duration_ms)


def _program(call: Call) -> Program:
    """The program stands in the package's folder, which is also where it starts."""
    release = call.version.release
    argv = argv_of(release.manifest["runtime"]["entry"])
    packages = environment_folder(release, seconds=call.seconds_left(), cancelled=call.cancelled)
    mounts = []
    if packages is not None:
        node_link(release_folder(release), packages)
        # Where the link leads from the package's place inside, as it does from its folder outside.
        mounts.append(Mount(str(packages), f"/{ENVIRONMENTS}/{packages.name}"))
    return Program(argv, orjson.dumps(request_of(call)), mounts, PACKAGE)


def argv_of(entry: str | Sequence[str]) -> list[str]:
    """The command line that a manifest's `runtime.entry` means: a file of the package, or an argv.

    The first word of an argv may be an interpreter of this machine. Raises ToolHubError for a path that leads
    out of the package, and for an interpreter that this machine does not have.
    """
    words = [entry] if isinstance(entry, str) else [str(word) for word in entry]
    if not words or not words[0] or any("\0" in word for word in words):
        raise ToolHubError("The release names no program.", code="EXECUTION_FAILED")
    first, *rest = words
    if isinstance(entry, str) or "/" in first:
        path = posixpath.normpath(first)
        if path.startswith(("/", "..")):
            raise ToolHubError("The release's program is not in its package.", code="EXECUTION_FAILED")
        return [f"{PACKAGE}/{path}", *rest]
    program = shutil.which(first, path=PATH)
    if program is None:
        raise ToolHubError(
            f"This machine has no program {first!r}.",
            code="DEPENDENCY_MISSING",
            suggestions=[f"Install {first} on the workers' machines."],
        )
    return [program, *rest]


def request_of(call: Call) -> dict[str, Any]:
    """What the program reads: `{arguments, context, tool, config}`."""
    context = {
        "run_id": str(call.run_id),
        "version": call.version.version,
        "attempt": call.attempt,
        "timeout_ms": call.timeout_ms,
        "degraded": list(call.degraded),
        **({"memory": call.memory["found"]} if call.memory else {}),
        **call.request.get("context", {}),
        **{name: call.request[name] for name in ("context_data", "hints") if name in call.request},
    }
    config = {"config": call.settings.values} if call.settings.values else {}
    tool = call.version.definition["name"]
    return {"arguments": arguments_of(call), "context": context, "tool": tool, **config}


def judge(call: Call, done: Finished, started_at: datetime) -> Outcome:
    """What the end of a program means."""
    try:
        said = loads(done.stdout, limits=Limits(len(done.stdout) + 1, DEFAULT.max_depth))
    except StrictJSONError as error:
        if done.exit_code != 0:
            return exit_failed(call, done, started_at)
        wrong = error_object("INVALID_OUTPUT", f"The tool's output is not JSON: {error.message}")
        return ended(Status.FAILED, wrong, started_at=started_at, duration_ms=done.duration_ms)
    if done.exit_code == 0:
        return given(call, said, started_at=started_at, duration_ms=done.duration_ms)
    made = tool_error(call, error_read(told(call, said)))
    return ended(Status.FAILED, made, started_at=started_at, duration_ms=done.duration_ms)
