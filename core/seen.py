"""Text as a person sees it, whoever wrote it."""

import json

from toolhub_sdk.lint.invisible import INVISIBLE


def text_seen(text: str) -> str:
    """The text with characters that nobody sees, or that turn its direction, as escapes: \\u202e."""
    return INVISIBLE.sub(lambda found: json.dumps(found.group())[1:-1], text)
