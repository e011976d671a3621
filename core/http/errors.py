"""Why an outgoing request was not made, or got no answer."""


class HttpRefused(Exception):
    """The guard says no. The text says why, and fits behind "the address"."""


class HttpFailed(Exception):
    """The other side could not be reached or did not answer as it should. The text says how.

    `unsent` says that no byte of the request was sent, so that nothing can have happened there; `answered`
    that the head of an answer came, so that what the request asked for has happened, or was refused.
    """

    def __init__(self, told: str, *, unsent: bool = False, answered: bool = False) -> None:
        super().__init__(told)
        self.unsent, self.answered = unsent, answered
