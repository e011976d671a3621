"""Names that every provider takes."""

import hashlib
import re

NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
_LENGTH = 64
_MARK = 8


def provider_name(name: str) -> str:
    """The name itself where it fits, else a like one, always the same: other characters become underscores,
    what is too long ends in a hash of the whole.
    """
    if NAME.fullmatch(name):
        return name
    plain = re.sub(r"[^a-zA-Z0-9_-]", "_", name)
    plain = plain if re.match(r"[a-zA-Z_]", plain) else f"_{plain}"
    if len(plain) <= _LENGTH:
        return plain
    return f"{plain[: _LENGTH - _MARK - 1]}_{hashlib.sha256(name.encode()).hexdigest()[:_MARK]}"
