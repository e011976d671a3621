"""What makes a tool easy to use well, and what its contract leaves open."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.lint.warning import LintWarning
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.problem import pointer

SHORT_CHARACTERS = 30
SHORT_WORDS = 5
JOBS_MAX = 4
SHOWN = 5

_EFFECT = re.compile(
    r"\b(?:creat|writ|updat|delet|remov|send|sent|post|add|append|mov|renam|set|stor|sav|chang|modif|edit|insert"
    r"|upload|publish|cancel|clos|open|start|stop|run|execut|press|click|drag|drop|type|typing|fill|navigat|commit"
    r"|checkout|switch|reset|stag|unstag|link|assign|transition|copy|copies|overwrit|replac|clear|empt|increment"
    r"|decrement|notif|call|record|register|install|archiv|grant|revok|lock|download|toggl|trigger|reply|replies"
    r"|merg|clean|approv|schedul|watch|unwatch|log|side effect)"
    r"(?:e|es|ed|d|s|ing|[a-z](?:ed|ing)|y|ies|ied|ion|ions|ch|ches|ment)?\b",
    re.IGNORECASE,
)
_WRITING = re.compile(
    r"^(?:[A-Za-z0-9]+[_.-])?(?:delete|remove|create|write|update|send|post|move|rename|upload|drop|insert|overwrite)(?:[_A-Z.-]|$)"
)
_CHOOSERS = frozenset({"action", "operation", "command", "method", "mode", "task"})
_WORDS = re.compile(r"[A-Za-z0-9]+")


def advice_on(definition: Mapping[str, Any], at: str) -> Iterator[LintWarning]:
    """Advice on one tool whose form is right and that stands at this JSON Pointer."""
    yield from _on_description(definition, at)
    yield from _on_schema(definition["inputSchema"], f"{at}/inputSchema")
    if "outputSchema" not in definition:
        yield LintWarning("RESULT_UNDESCRIBED", at, "No outputSchema says what the result looks like.")
    contract = definition.get("_meta", {}).get(CONTRACT)
    here = f"{at}/_meta/{pointer([CONTRACT])[1:]}"
    if contract is None:
        message = "No contract: the tool counts as impure, not idempotent and non_deterministic."
        yield LintWarning("CONTRACT_MISSING", at, message)
    else:
        yield from _on_contract(contract, here)
        yield from _on_capabilities(definition, contract, here)
    yield from _on_hints(definition, contract, at)


def _on_description(definition: Mapping[str, Any], at: str) -> Iterator[LintWarning]:
    text = definition["description"].strip()
    if len(text) < SHORT_CHARACTERS or len(text.split()) < SHORT_WORDS:
        message = "The description is short. Say what it does, takes and returns, and its limits."
        yield LintWarning("DESCRIPTION_SHORT", f"{at}/description", message)
    if _is_impure(definition) and not _EFFECT.search(text):
        message = "The tool has effects, and the description names none."
        yield LintWarning("EFFECTS_UNSAID", f"{at}/description", message)


def _is_impure(definition: Mapping[str, Any]) -> bool:
    contract = definition.get("_meta", {}).get(CONTRACT)
    if contract is None:
        return definition.get("annotations", {}).get("readOnlyHint") is False
    return bool(contract.get("sideEffects", "impure") == "impure")


def _on_schema(schema: Mapping[str, Any], at: str) -> Iterator[LintWarning]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return
    plain = {name: each for name, each in properties.items() if isinstance(each, Mapping)}
    bare = [name for name, each in plain.items() if not {"description", "$ref"} & each.keys()]
    if bare:
        message = f"Without a description: {_listed(bare)}."
        yield LintWarning("PARAMETER_UNDESCRIBED", f"{at}/properties", message)
    kinds = {"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"}
    vague = [name for name, each in plain.items() if not kinds & each.keys()]
    if vague:
        message = f"Without a type, so that anything fits: {_listed(vague)}."
        yield LintWarning("PARAMETER_UNTYPED", f"{at}/properties", message)
    if not schema.get("required"):
        yield LintWarning("NOTHING_REQUIRED", at, "No parameter is required. Must none be given?")
    for name, each in plain.items():
        choices = each.get("enum")
        if name.lower() in _CHOOSERS and isinstance(choices, list) and len(choices) > JOBS_MAX:
            message = f"{name} chooses among {len(choices)} jobs. A model finds single ones better."
            yield LintWarning("SEVERAL_JOBS", f"{at}{pointer(['properties', name])}", message)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _on_contract(contract: Mapping[str, Any], at: str) -> Iterator[LintWarning]:
    if not contract.get("resourceBounds", {}).get("timeoutMs"):
        message = "No timeoutMs is declared, so that the hub's default of 30 s holds."
        yield LintWarning("BOUNDS_MISSING", f"{at}/resourceBounds", message)
    if not contract.get("errors"):
        message = "No error codes are declared. A caller can act on a code, not on free text."
        yield LintWarning("ERRORS_UNDECLARED", f"{at}/errors", message)
    if not contract.get("examples"):
        yield LintWarning("EXAMPLES_MISSING", f"{at}/examples", "No example, so that nothing is tested.")
    impure = contract.get("sideEffects", "impure") == "impure"
    if impure and "cache" in contract:
        message = "The results of a tool with effects are kept, so that a later call has no effect."
        yield LintWarning("CACHED_EFFECTS", f"{at}/cache", message)
    reaches_out = bool(contract.get("network", {}).get("allow"))
    if reaches_out and contract.get("determinism") == "deterministic":
        message = "A tool that asks the network can hardly give the same result for the same arguments."
        yield LintWarning("DETERMINISM_DOUBTFUL", f"{at}/determinism", message)


def _on_capabilities(
    definition: Mapping[str, Any], contract: Mapping[str, Any], at: str
) -> Iterator[LintWarning]:
    declared = contract.get("requiredCapabilities", [])
    hosts = contract.get("network", {}).get("allow", [])
    words = {word.lower() for word in _WORDS.findall(definition["description"])}
    roots = {word.rstrip("s") for word in words}
    network = [each for each in declared if each.split(":")[0].split(".")[0] in ("network", "*")]
    if hosts and not network:
        message = f"It reaches {hosts[0]}, and no network capability is required for that."
        yield LintWarning("CAPABILITY_MISSING", f"{at}/requiredCapabilities", message)
    for index, each in enumerate(declared):
        place = f"{at}/requiredCapabilities/{index}"
        if each in network and not hosts and each != "*":
            yield LintWarning("CAPABILITY_UNUSED", place, f"{each} is required, and no host may be reached.")
        elif not {word.lower().rstrip("s") for word in _WORDS.findall(each)} & roots:
            message = f"{each} is required, and the description does not say what for."
            yield LintWarning("CAPABILITY_UNDOCUMENTED", place, message)


def _on_hints(
    definition: Mapping[str, Any], contract: Mapping[str, Any] | None, at: str
) -> Iterator[LintWarning]:
    hints = definition.get("annotations", {})
    pairs = []
    if contract is not None:
        pure = contract.get("sideEffects", "impure") == "pure"
        pairs = [("readOnlyHint", pure), ("idempotentHint", bool(contract.get("idempotent", False)))]
    for hint, declared in pairs:
        if hint in hints and hints[hint] is not declared:
            message = f"{hint} says one thing, the contract another."
            yield LintWarning("HINT_CONTRADICTS", f"{at}/annotations/{hint}", message)
    reads_only = hints.get("readOnlyHint") is True or (contract or {}).get("sideEffects") == "pure"
    if reads_only and (hints.get("destructiveHint") is True or _WRITING.match(definition["name"])):
        message = "It is said to change nothing, and its name or destructiveHint says that it does."
        yield LintWarning("HINT_CONTRADICTS", f"{at}/annotations", message)
