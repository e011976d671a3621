"""A violation: what was found in an argument, where, and what to do about it; never the argument itself."""

from dataclasses import asdict, dataclass
from typing import Literal

Type = Literal["injection", "path_traversal", "privilege_escalation", "data_exfiltration"]
Severity = Literal["low", "medium", "high", "critical"]


@dataclass(frozen=True)
class Violation:
    """`pointer` is a JSON Pointer (RFC 6901) into the arguments."""

    type: Type
    severity: Severity
    description: str
    remediation: str
    pointer: str

    def as_dict(self) -> dict[str, str]:
        """The five members, as runs, the ledger and answers have them."""
        return asdict(self)
