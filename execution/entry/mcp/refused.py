"""An answer of JSON-RPC 2.0 that is an error."""

from typing import Any


class Refused(Exception):
    """An error's code, words for people, and data."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data
