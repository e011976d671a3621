"""What the supervisor is to start, and what it says when the hub answers. No Django."""

import json
from dataclasses import asdict, dataclass, field

GRACE_S = 10.0


@dataclass(frozen=True)
class Program:
    """One process of the hub: its name in the output, its command, and environment beside ours."""

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

    def dump(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> "Plan":
        raw = json.loads(text)
        return cls(**{**raw, "programs": [Program(**program) for program in raw["programs"]]})
