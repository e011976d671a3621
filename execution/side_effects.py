"""How far the effect of an attempt can have gone, as the runner that carried it out knows it."""

from enum import StrEnum


class SideEffect(StrEnum):
    """What an attempt may have changed outside its result.

    NONE: the tool never began, so nothing changed. POSSIBLE: the tool began, and something else ended it
    before it reported an end of its own. DONE: the tool, or the server that it asked, reported an end.
    """

    NONE = "none"
    POSSIBLE = "possible"
    DONE = "done"
