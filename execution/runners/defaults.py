"""What a tool that is no function of Python gets as its arguments; functions have their own defaults."""

from typing import Any

from execution.engine.call import Call
from registry.schemas import input_validator
from toolhub_sdk.defaults import defaults_filled


def arguments_of(call: Call) -> dict[str, Any]:
    """The call's arguments, with the schema's defaults for those left out, where they fit together.

    The run's record has what the caller sent.
    """
    given = dict(call.arguments)
    filled: dict[str, Any] = defaults_filled(call.version.definition.get("inputSchema"), given)
    if filled == given:
        return given
    return filled if input_validator(call.version.digest, call.version.definition).is_valid(filled) else given
