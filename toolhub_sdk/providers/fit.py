"""Whether a tool fits each provider, and what its converter would change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolhub_sdk.providers import PROVIDERS, Change, UnfitError, tool_for


@dataclass(frozen=True)
class Fit:
    """One provider's verdict: `unfit` is the reason why it cannot take the tool, None where it can."""

    provider: str
    unfit: str | None
    changes: tuple[Change, ...]


def fits_of(definition: Mapping[str, Any]) -> list[Fit]:
    """The verdict of each provider on a tool in MCP's shape."""
    found = []
    for provider in PROVIDERS:
        try:
            found.append(Fit(provider, None, tool_for(provider, definition).changes))
        except UnfitError as error:
            found.append(Fit(provider, str(error), ()))
    return found
