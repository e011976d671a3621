"""What is to be run in a sandbox, and what became of it, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from security.sandbox.gate import BYTES_MOST, Reached
from security.sandbox.levels import Level

MIB = 1 << 20
WORK = "/work"
# What a pipe takes without anybody reading.
SECRETS_MOST = 60_000
How = Literal[
    "exited", "start", "timeout", "cancelled", "memory", "cpu", "disk", "folder", "output", "killed"
]


@dataclass(frozen=True)
class Limits:
    """What the whole tree of a run's processes may use. Seconds, milliseconds and bytes.

    `wall_s` is the time of the tool's code, `start_s` that of its start, from its input to the mark (Launch).

    `memory_bytes` counts the processes' own memory; files in the work folder are bounded by `disk_bytes`
    and `files`; of those left for the caller, `artefacts` files of `artefact_bytes` together are taken.
    `cpu_ms` None leaves processor time to the wall clock. `log_bytes` is how much of the end of the log is
    kept.
    """

    wall_s: float = 30.0
    start_s: float = 30.0
    memory_bytes: int = 256 * MIB
    cpu_ms: int | None = None
    output_bytes: int = MIB
    log_bytes: int = 64 * 1024
    disk_bytes: int = 64 * MIB
    files: int = 10_000
    processes: int = 64
    open_files: int = 256
    artefact_bytes: int = 16 * MIB
    artefacts: int = 20

    def as_dict(self) -> dict[str, Any]:
        """The limits by name, as they stand in a run's record."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Mount:
    """A folder of this machine that the code may read, at the path `inside`, or write, too.

    A run that makes it larger than `most_bytes` is ended; None counts nothing.
    """

    host: str
    inside: str
    writable: bool = False
    most_bytes: int | None = None


@dataclass(frozen=True)
class Launch:
    """One program to run at one level.

    `argv[0]` is an absolute path. Words of `argv`, `environment` and `cwd` that begin with a mount's or the
    work folder's path inside are put right where the level has no file system of its own. `environment` is
    all that the program sees. `secrets`, unless they are None, come to it with its input, on descriptor 3,
    which TOOLHUB_SECRETS_FD then names. `prepare` is Python that may run once in a process that serves many
    calls, before the code that `argv` has after "-c": the hub's code only. `marks` says that the program
    writes a line end to its output when the tool's code begins: what it does until then is its start, and one
    whose output begins with something else never began. Without it the tool begins with its input. `network`
    lists the `host:port` that it may reach, through an HTTP proxy at gate_place.ADDRESS that passes
    `network_bytes`; only for the level isolated. `goodbye` gives a program that waits for its input, and is
    not wanted any more, a second to end by itself.
    """

    argv: Sequence[str]
    level: Level
    stdin: bytes = b""
    mounts: Sequence[Mount] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = WORK
    limits: Limits = Limits()
    secrets: bytes | None = field(default=None, repr=False)
    prepare: str = ""
    marks: bool = False
    network: Sequence[str] = ()
    network_bytes: int = BYTES_MOST
    goodbye: bool = False

    def __post_init__(self) -> None:
        words = (*self.argv, *self.environment, *self.environment.values(), self.cwd)
        paths = [path for mount in self.mounts for path in (mount.host, mount.inside)]
        # They are told to bubblewrap with NUL between them: one within a word would begin an option.
        if self.network and self.level is not Level.ISOLATED:
            raise ValueError(f"There is no network of its own at the level {self.level}.")
        if any("\0" in word for word in (*words, *paths)):
            raise ValueError("A word of a launch has a NUL character.")
        if self.secrets and len(self.secrets) > SECRETS_MOST:
            raise ValueError(f"Secrets have at most {SECRETS_MOST} bytes.")


@dataclass(frozen=True)
class Finished:
    """How a run ended.

    `exit_code` is None where the run was ended; for a signal it is negative, or 128 and its number as
    bubblewrap says it.

    `cgroup` says what its control group held (cpu, kill, memory, pids); it is empty without one.

    `begun` says whether the tool's code began, `start_ms` how long that took, or was waited for: from the
    order to the mark. A start that took longer than it may ends with `how` "start".

    `resources` are `cpu_ms`, `max_memory_bytes`, `disk_bytes` and, with a control group, `cgroup_bytes`: the
    kernel's peak for it, files in memory among them. `duration_ms` counts from the beginning. `asked`
    is true when it was told to stop, also if it then ended by itself; `parked` when it ended before it had
    its input; `reached` the hosts that it asked for. `files` are those that it left for its caller, `skipped`
    those that were not taken, with the reason. `log` is the end of `logged` bytes.
    """

    how: How
    exit_code: int | None
    stdout: bytes
    log: bytes
    duration_ms: float
    resources: Mapping[str, Any]
    level: Level
    filter_hash: str | None
    cgroup: Sequence[str] = ()
    asked: bool = False
    parked: bool = False
    begun: bool = True
    start_ms: float = 0.0
    reached: Sequence[Reached] = ()
    files: Sequence[tuple[str, bytes]] = ()
    skipped: Sequence[tuple[str, str]] = ()
    logged: int = 0
