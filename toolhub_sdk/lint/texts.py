"""The texts of a manifest and of its files, and how they are shown."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
FILE_BYTES_MAX = 1_048_576


def texts_of(value: Any) -> Iterator[tuple[Path, str]]:
    """Every text in a JSON value with its path; the names of members too, at the member's path."""
    pending: list[tuple[Path, Any]] = [((), value)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, str):
            yield path, node
        elif isinstance(node, Mapping):
            for name, part in node.items():
                yield (*path, name), name
                pending.append(((*path, name), part))
        elif isinstance(node, list):
            pending += [((*path, index), part) for index, part in enumerate(node)]


def text_of_file(content: bytes) -> str | None:
    """The text of a file in UTF-8 of at most 1 MiB; None for anything else."""
    if len(content) > FILE_BYTES_MAX or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def visible(text: str, limit: int = 120) -> str:
    """The text with everything that is not plain ASCII as an escape, cut after `limit` characters."""
    shown = text.encode("unicode_escape").decode("ascii")
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
