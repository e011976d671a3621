"""Tools in the forms of model providers."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from toolhub_sdk.providers.anthropic import anthropic_tool
from toolhub_sdk.providers.conversion import Change, Converted, UnfitError
from toolhub_sdk.providers.gemini import gemini_tool
from toolhub_sdk.providers.mcp import mcp_tool
from toolhub_sdk.providers.openai import chat_tool, responses_tool
from toolhub_sdk.providers.text import text_line

__all__ = ["PROVIDERS", "Change", "Converted", "UnfitError", "text_line", "tool_for"]

PROVIDERS: Mapping[str, Callable[[Mapping[str, Any]], Converted]] = {
    "openai": chat_tool,
    "openai-strict": partial(chat_tool, strict=True),
    "openai-responses": responses_tool,
    "openai-responses-strict": partial(responses_tool, strict=True),
    "anthropic": anthropic_tool,
    "gemini": gemini_tool,
    "mcp": mcp_tool,
}


def tool_for(provider: str, definition: Mapping[str, Any]) -> Converted:
    """A tool, in MCP's shape, in the form of one of PROVIDERS, with what was changed.

    Raises UnfitError where that cannot be, whatever is wrong with the definition: one bad tool must never
    break a list.
    """
    convert = PROVIDERS[provider]
    try:
        return convert(definition)
    except (AttributeError, TypeError, LookupError, ValueError, RecursionError) as error:
        if isinstance(error, UnfitError):
            raise
        raise UnfitError("Its definition is not well formed.") from error
