"""Why an outgoing request was not made, or got no answer."""


class HttpRefused(Exception):
    """The guard says no. The text says why, and fits behind "the address"."""


class HttpFailed(Exception):
    """The other side could not be reached or did not answer as it should. The text says how.

    `unsent` says that there was no connection, so that nothing can have happened there.
    """

    def __init__(self, told: str, *, unsent: bool = False) -> None:
        super().__init__(told)
        self.unsent = unsent
