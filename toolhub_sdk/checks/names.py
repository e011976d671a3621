"""Names, paths and ranges of versions in a manifest."""

import re

RESERVED = frozenset({"search", "stats", "schema"})
"""Path words of the hub's API; a tool of that name could not be reached."""

_COMPARED = re.compile(
    r"(\^|~|>=|<=|>|<|=)?(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*|x|\*)){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
)


def is_own_name(package: str) -> bool:
    """Whether the name says that the package is a part of the hub."""
    return package == "toolhub" or package.startswith("toolhub-")


def is_version_range(text: str) -> bool:
    """Whether the text is a range of versions: `^1.2`, `~1.2.3`, `>=1.0 <2.0`, `1.4.0`, `*`."""
    return text == "*" or (bool(text.split()) and all(_COMPARED.fullmatch(part) for part in text.split()))


def is_package_path(text: str) -> bool:
    """Whether the text is a path that stays inside its package, with forward slashes, and is no option."""
    parts = text.split("/")
    return "\\" not in text and not text.startswith("-") and not {"", ".", ".."} & set(parts)
