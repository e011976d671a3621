"""The levels at which code is held. Each is a guarantee; docs/sandbox.md says what of."""

from enum import StrEnum


class Level(StrEnum):
    """From the strongest to the weakest."""

    ISOLATED = "isolated"
    CONFINED = "confined"
    PROCESS = "process"

    def holds(self, minimum: "Level") -> bool:
        """Whether this level gives at least what `minimum` gives."""
        return STRENGTH.index(self) <= STRENGTH.index(minimum)


STRENGTH = (Level.ISOLATED, Level.CONFINED, Level.PROCESS)
# A manifest's and a call's words for isolation.
MINIMA = {"none": Level.PROCESS, "basic": Level.PROCESS, "strict": Level.CONFINED, "paranoid": Level.ISOLATED}


def minimum_of(*words: str | None) -> Level:
    """The least level that satisfies all these words; those that are None ask for nothing.

    Without any word it is confined. Raises KeyError for an unknown word.
    """
    asked = [MINIMA[word] for word in words if word is not None] or [Level.CONFINED]
    return min(asked, key=STRENGTH.index)
