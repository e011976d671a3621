"""Search patterns of callers, on an engine whose time is linear in the text: Rust's regex crate."""

from dataclasses import dataclass

import jsonschema_rs

from core.errors import InvalidRequest

LENGTH_MAX = 200
# Of the compiled pattern; nested repetitions like (\w{80}){80} are refused by it within 50 ms.
BYTES_MAX = 1_048_576


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern that disregards case and matches anywhere in a text."""

    _validator: jsonschema_rs.Draft202012Validator

    def matches(self, text: str) -> bool:
        return self._validator.is_valid(text)


def pattern_compile(text: str) -> Pattern:
    """The pattern in a text (ECMA 262, without look-around and back-references). Raises InvalidRequest."""
    if len(text) > LENGTH_MAX:
        raise InvalidRequest(f"A pattern may have {LENGTH_MAX} characters.")
    options = jsonschema_rs.RegexOptions(size_limit=BYTES_MAX)
    try:
        return Pattern(
            jsonschema_rs.Draft202012Validator(
                {"type": "string", "pattern": f"(?i){text}"}, pattern_options=options, offline=True
            )
        )
    except (jsonschema_rs.ValidationError, ValueError) as error:
        raise InvalidRequest(
            "The pattern is no regular expression that runs in linear time.",
            suggestions=["Leave out look-around, back-references and large repetitions."],
        ) from error
