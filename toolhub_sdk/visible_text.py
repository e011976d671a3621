"""The one way out for foreign text: characters that nobody sees, or that turn its direction, become escapes.

A terminal obeys control characters, and a page shows text after U+202E backwards. `text_seen` is for
sentences, terminals and mail. `page_seen` is for whole pages (core/middleware.py), so that no template has to
remember it.
"""

import json
import re
from typing import TextIO

DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""UAX #9: marks, embeddings, overrides and isolates. A range for a character class, as the next two."""
CONTROL = "\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029"
NOTHING = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
INVISIBLE = re.compile(f"[{DIRECTION}{NOTHING}{CONTROL}]")
# Emoji and some scripts are written with joiners and variation selectors: pages show those as they are.
_IN_PAGES = re.compile(
    f"[{DIRECTION}{CONTROL}\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def text_seen(text: str) -> str:
    """The text with characters that nobody sees, or that turn its direction, as JSON's escapes: \\u202e."""
    return INVISIBLE.sub(_escaped, text)


def page_seen(text: str) -> str:
    """As `text_seen` for a whole page; joiners within emoji and scripts stay."""
    return _IN_PAGES.sub(_escaped, text)


class VisibleStream:
    """A text stream that shows what is written to it as `text_seen` does, for a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Writes the text; returns the number of its characters."""
        self._stream.write(text_seen(text))
        return len(text)

    def flush(self) -> None:
        """Flushes the stream."""
        self._stream.flush()


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found.group())[1:-1]
