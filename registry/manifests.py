"""Reads `toolhub.json` as a package brings it, and says what is wrong with it."""

from typing import Any

from core.errors import ToolHubError
from core.json.strict import StrictJSONError, loads
from toolhub_sdk.checks.manifest import manifest_problems
from toolhub_sdk.problem import Problem
from toolhub_sdk.strict_json import line_of

__all__ = ["Problem", "manifest_problems", "manifest_read", "problems_raise"]

CODE = "INVALID_MANIFEST"


def manifest_read(raw: bytes) -> dict[str, Any]:
    """The manifest in the bytes of a `toolhub.json`: strict JSON in UTF-8, an object, at most 1 MiB.

    Raises ToolHubError INVALID_MANIFEST; whether it is a good manifest is for `manifest_problems` to say.
    """
    try:
        manifest = loads(raw)
    except StrictJSONError as error:
        raise ToolHubError(
            f"toolhub.json cannot be read{line_of(raw, error)}: {error.message}",
            code=CODE,
            errors=[{"pointer": error.pointer or "", "message": error.message}],
            data={"code": error.code, "position": error.position},
        ) from error
    if not isinstance(manifest, dict):
        raise ToolHubError("toolhub.json is no JSON object.", code=CODE, suggestions=["Begin it with {."])
    return manifest


def problems_raise(problems: list[Problem]) -> None:
    """Raises ToolHubError INVALID_MANIFEST with a pointer to each problem, if there are any."""
    if problems:
        raise ToolHubError(
            f"toolhub.json is not right at {problems[0].pointer or 'its top'}: {problems[0].message}",
            code=CODE,
            errors=[
                {"pointer": each.pointer, "message": each.message, "remedy": each.remedy} for each in problems
            ],
            suggestions=list(dict.fromkeys(each.remedy for each in problems)),
        )
