"""How a command ends before its end."""


class StopError(Exception):
    """A sentence for the author; `code` is the exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code
