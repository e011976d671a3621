"""What the supervisor is to start, and what it says when the hub answers."""

from dataclasses import dataclass, field

GRACE_S = 10.0


@dataclass(frozen=True)
class Program:
    """One process of the hub: its name in the output, its command, and environment beside ours.

    The command is an interpreter, `-m`, a module and its arguments.
    """

    name: str
    command: list[str]
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """The programs, the address whose /readyz tells that the hub answers, and the lines said then."""

    programs: list[Program]
    host: str
    port: int
    banner: str
    # Told also when the hub never answers: a password that is shown only once.
    account: str = ""
    keep_open: list[int] = field(default_factory=list)
    grace_s: float = GRACE_S
