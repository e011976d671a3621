"""What a reviewer should look at before a package is published."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LintWarning:
    """`code` names the rule; `pointer` is a JSON Pointer (RFC 6901) into the manifest, or the empty text
    where the message names a file of the package; `message` says what was found, in visible characters.
    """

    code: str
    pointer: str
    message: str
