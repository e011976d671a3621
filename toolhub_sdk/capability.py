"""Names of capabilities: their form, and the one spelling that each has."""

import re

LONGEST = 120
APPROVED = "approved:"
"""Before a tool's name, which may have capitals: a grant of it approves the tool's calls in advance."""
_PART = r"[A-Za-z0-9_/\-]+"
_FORM = re.compile(rf"\*|{_PART}(?:\.{_PART})*(?:\.\*)?|{_PART}(?::[A-Za-z0-9_/.\-]+)+(?::\*)?|{_PART}:\*")


def is_capability(text: str) -> bool:
    """Return whether the text has the form of a capability: `*`, `a`, `a:b`, `a.b` or `a:*`."""
    return len(text) <= LONGEST and _FORM.fullmatch(text) is not None


def capability_check(text: object) -> str:
    """Return the capability. Raise ValueError with what was expected, what was given and the fix.

    Capitals are refused, so that no `File:read` stands beside `file:read`. Only the tool's name after
    `approved:` may have them.
    """
    if not isinstance(text, str) or not is_capability(text):
        raise ValueError(
            f"expected a capability such as file:read, file:* or * in ASCII, at most {LONGEST} characters;"
            f" got {text!r:.140}"
        )
    normal = text if text.startswith(APPROVED) else text.lower()  # ASCII only, as the form says
    if text != normal:
        raise ValueError(f"expected small letters; write {normal!r} instead of {text!r}")
    return text
