"""JSON Pointer (RFC 6901): reads the value that a pointer names."""

import re
from typing import Any

# For JSON Schema too: its dialect is ECMA 262's.
POINTER = r"^(/([^~/]|~[01])*)*$"
_WHOLE = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_INDEX = re.compile(r"0|[1-9][0-9]*", re.ASCII)


def pointer_is(text: str) -> bool:
    """Whether the text is a JSON Pointer (§3)."""
    return _WHOLE.fullmatch(text) is not None


def pointer_parts(pointer: str) -> list[str]:
    """The names and indexes on the way that a well-formed pointer describes; none for ""."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def pointer_get(value: Any, pointer: str) -> Any:
    """The value at a well-formed pointer; "" is the whole. Raises LookupError where there is none (§4)."""
    for token in pointer_parts(pointer):
        if isinstance(value, dict):
            value = value[token]
        elif isinstance(value, list) and _INDEX.fullmatch(token) and len(token) < 10:
            value = value[int(token)]
        else:
            raise LookupError(f"{pointer} leads nowhere")
    return value
