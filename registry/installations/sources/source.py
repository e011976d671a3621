"""What every source gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.archives.contents import Contents


@dataclass(frozen=True)
class Fetched:
    """The files, and facts about them for the review: the commit, the digest of the bytes that came."""

    contents: Contents
    facts: Mapping[str, Any]
