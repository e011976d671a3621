"""Why an outgoing request was not made, or got no answer."""


class HttpRefused(Exception):
    """The guard says no. The text says why, and fits behind "the address"."""


class HttpFailed(Exception):
    """The other side could not be reached or did not answer as it should. The text says how."""
