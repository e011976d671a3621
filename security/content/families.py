"""Families of signs: patterns that mean the same attack, compiled as one, matched in linear time (RE2)."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from security.content.violation import Severity, Type, Violation

# Of one compiled family.
BYTES_MAX = 16_777_216


@dataclass(frozen=True)
class Family:
    """What one attack looks like. `harmless` is taken out of a text before the signs are looked for.

    Patterns are RE2's; case is disregarded and `.` matches line ends.
    """

    type: Type
    severity: Severity
    description: str
    remediation: str
    signs: Sequence[str]
    harmless: Sequence[str] = ()

    def shows_in(self, text: str) -> bool:
        """Whether one of the signs is in the text."""
        if self.harmless:
            text = _compiled(tuple(self.harmless)).sub(" ", text)
        return _compiled(tuple(self.signs)).search(text) is not None

    def violation(self, pointer: str) -> Violation:
        """The violation at a place."""
        return Violation(self.type, self.severity, self.description, self.remediation, pointer)


@dataclass(frozen=True)
class Scanner:
    """A family whose sign no pattern can say: found by a function, in one pass over the text."""

    family: Family
    finds: Callable[[str], bool]


def families_found(
    texts: Sequence[str], families: Sequence[Family], scanners: Sequence[Scanner] = ()
) -> Iterator[Family]:
    """The families of which a sign is in one of the forms of a text."""
    for family in families:
        if any(map(family.shows_in, texts)):
            yield family
    for scanner in scanners:
        if any(map(scanner.finds, texts)):
            yield scanner.family


@functools.cache
def _compiled(signs: tuple[str, ...]) -> Any:
    import re2  # noqa: PLC0415 - 3 MB, only where a tool has such fields

    options = re2.Options()
    options.max_mem, options.log_errors, options.case_sensitive = BYTES_MAX, False, False
    options.dot_nl = True
    return re2.compile("|".join(f"(?:{sign})" for sign in signs), options=options)
