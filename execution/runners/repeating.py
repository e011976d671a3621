"""A program that is carried out several times in one sandbox, to see whether it repeats itself."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from core.json.strict import StrictJSONError, loads
from execution.engine.call import Call
from execution.engine.outcomes import Outcome, success
from execution.runners.sandboxed import Program, exit_failed
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import MIB, Finished, Mount

# Where the program that repeats stands inside, and the memory that it may need.
_REPEAT = "/toolhub/repeat.py"
_OWN_BYTES = 32 * MIB
Reads = Literal["line", "whole"]
"""Where a program's result is: in its last line, or in all that it writes."""


def repeating(program: Program, seeds: Sequence[int], reads: Reads) -> Program:
    """The program that carries `program` out for each seed (program_repeat.py), with the same folders."""
    listed = ",".join(map(str, seeds))
    argv = [interpreter(), "-P", "-s", "-S", "-B", _REPEAT, reads, listed, *program.argv]
    own = Mount(str(Path(__file__).parent / "program_repeat.py"), _REPEAT)
    known = {mount.inside for mount in program.mounts}
    mounts = [*program.mounts, *(one for one in interpreter_mounts() if one.inside not in known), own]
    return Program(argv, program.stdin, mounts, program.cwd, extra_bytes=program.extra_bytes + _OWN_BYTES)


def repeated(call: Call, done: Finished, started_at: datetime) -> Outcome:
    """The report of program_repeat.py as the result."""
    try:
        report = loads(done.stdout)
    except StrictJSONError:
        return exit_failed(call, done, started_at)
    return success(report, started_at=started_at, ended_at=datetime.now(UTC), duration_ms=done.duration_ms)
