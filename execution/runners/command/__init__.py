"""The runtime command: any program of a release that speaks JSON (json_programs.py), in the sandbox."""

import posixpath
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import orjson

from core.errors import ToolHubError
from core.json.strict import StrictJSONError, loads
from execution.engine.call import Call
from execution.engine.outcomes import Outcome, success
from execution.models import Status
from execution.runners.json_programs import judge, request_of
from execution.runners.judging import ended, unfit_error
from execution.runners.repeating import repeated, repeating
from execution.runners.sandboxed import PACKAGE, PATH, Program, exit_failed, run_sandboxed
from execution.runners.traits import Runner
from registry.environment_calls import environment_folder
from registry.environments import ENVIRONMENTS
from registry.node_environments import node_link
from registry.store import release_folder
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import Finished, Mount
from toolhub_sdk.runtimes import command as sdk

# Where the folder with the programs that look stands inside.
_LOOK = "/toolhub/look"


class Command(Runner):
    name = sdk.Command.name
    can_repeat = True

    def run(self, call: Call) -> Outcome:
        """Runs a release's program in the sandbox. Where it is only to be looked at, nothing of it is run."""
        if call.look:
            looked = run_sandboxed(call, _looking, _looked)
            if call.look == "only" or looked.status is not Status.COMPLETED:
                return looked
        if call.seeds:
            return run_sandboxed(call, lambda made: repeating(_program(made), made.seeds, "whole"), repeated)
        return run_sandboxed(call, _program, judge)


RUNTIME = Command()


def _looking(call: Call) -> Program:
    """The program that looks at the tool's, with the same folders (program_look.py)."""
    meant = _program(call)
    mounts = [
        *meant.mounts,
        *interpreter_mounts(),
        Mount(str(Path(__file__).parent), _LOOK),
    ]
    look = f"{_LOOK}/program_look.py"
    return Program([interpreter(), "-P", "-s", "-S", "-B", look, *meant.argv], b"", mounts, PACKAGE)


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
    packages = environment_folder(release, seconds=call.start_left(), cancelled=call.cancelled)
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
