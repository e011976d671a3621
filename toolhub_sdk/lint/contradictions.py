"""Where parts of one tool's contract do not go together: calls would fail, or a part does nothing."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.checks.rule_names import names_gone
from toolhub_sdk.lint.warning import LintWarning
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.problem import pointer
from toolhub_sdk.runtimes.registry import runtimes


def contradictions_in(definition: Mapping[str, Any], at: str) -> Iterator[LintWarning]:
    """The warnings about one tool whose form is right and that stands at this JSON Pointer."""
    schema = definition["inputSchema"]
    yield from _defaults(schema, f"{at}/inputSchema")
    contract = definition.get("_meta", {}).get(CONTRACT, {})
    if "schema" in contract.get("hooks", {}):
        return  # its arguments are those of a context
    here = f"{at}/_meta/{pointer([CONTRACT])[1:]}"
    yield from _doubts(contract, here)
    for index, rule in enumerate(contract.get("validators", [])):
        if gone := names_gone(rule, schema):
            message = f"The rule names {', '.join(gone)}, which the tool does not take: it may refuse all."
            yield LintWarning("RULE_ARGUMENT_UNKNOWN", f"{here}/validators/{index}", message)
    known = schema.get("properties", {})
    for place in contract.get("fieldKinds", {}):
        name = place.split("/")[1].replace("~1", "/").replace("~0", "~")
        if name not in known:
            message = f"The tool takes no {name}, so that this says nothing."
            yield LintWarning("FIELD_UNKNOWN", f"{here}/fieldKinds{pointer([place])}", message)


def _doubts(contract: Mapping[str, Any], at: str) -> Iterator[LintWarning]:
    """Promises that another part of the contract makes doubtful, and does not break for sure."""
    if contract.get("determinism") == "deterministic":
        for name, message in _changing().items():
            if contract.get(name) not in (None, {}, []) and (
                name != "filesystem" or contract[name].get("read")
            ):
                yield LintWarning("DETERMINISM_DOUBTFUL", f"{at}/determinism", message)
    for index, effect in enumerate(contract.get("effects", [])):
        if contract.get("idempotent") and effect.get("change") in {"increment", "decrement"}:
            message = "An idempotent tool may be called twice, and this effect then counts twice."
            yield LintWarning("IDEMPOTENCE_DOUBTFUL", f"{at}/effects/{index}/change", message)


def _changing() -> dict[str, str]:
    """Members of a contract that make the promise deterministic doubtful, each with the reason."""
    return {
        "memory": "A tool that reads memory gives another result when the memory changes.",
        "filesystem": "A tool that reads folders gives another result when their files change.",
        **{name: why for each in runtimes().values() for name, why in each.doubts.items()},
    }


def _defaults(schema: Mapping[str, Any], at: str) -> Iterator[LintWarning]:
    """A default that a caller could not send. Raises ModuleNotFoundError without jsonschema-rs."""
    # Not with this module: what reads a definition needs the standard library alone.
    from toolhub_sdk.checks.engine import Refusal, compiled  # noqa: PLC0415

    given = {
        name: each["default"]
        for name, each in schema.get("properties", {}).items()
        if isinstance(each, Mapping) and "default" in each
    }
    parts = ("$schema", "$defs", "definitions", "properties")
    try:
        alone = compiled({part: schema[part] for part in parts if part in schema})
    except Refusal:
        return  # a property refers to what is left out here
    for name in (name for name, default in given.items() if not alone.is_valid({name: default})):
        message = f"The default of {name} does not fit its own schema. Mend one of the two."
        yield LintWarning("DEFAULT_UNFIT", f"{at}{pointer(['properties', name, 'default'])}", message)
