"""All that is wrong with a manifest: its form, and what no schema can say."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.checks.contradictions import contradiction_problems
from toolhub_sdk.checks.effects import effect_problems
from toolhub_sdk.checks.engine import compiled
from toolhub_sdk.checks.expressions import expression_problems
from toolhub_sdk.checks.form import form_problems
from toolhub_sdk.checks.mismatch import mismatches_of
from toolhub_sdk.checks.names import RESERVED, is_own_name, is_package_path, is_version_range
from toolhub_sdk.checks.recovery import recovery_problems
from toolhub_sdk.checks.schemas import schema_problems
from toolhub_sdk.config_check import config_check_problems
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.problem import Problem, pointer
from toolhub_sdk.runtimes.registry import runtime_of, runtimes
from toolhub_sdk.runtimes.traits import Runtime

SHOWN_MAX = 100
# Members of _meta that begin so are the hub's.
_OURS = "io.toolhub/"
_SETTING = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")


def manifest_problems(manifest: Any, *, builtin: bool = False) -> list[Problem]:
    """What is wrong with a manifest, at most 100; empty for one that a hub takes.

    `builtin` says that it comes from the hub's own catalogue. Whether the files that it names are there is
    for the caller to see. What no schema can say is looked at where the form is right. One problem a place.
    """
    found = (
        form_problems(manifest)
        or [
            *_package_problems(manifest, builtin),
            *_tools_problems(manifest),
            *recovery_problems(manifest),
        ]
        or list(expression_problems(manifest))
    )
    by_place = {each.pointer: each for each in reversed(found)}
    return list(reversed(by_place.values()))[:SHOWN_MAX]


def _package_problems(manifest: Mapping[str, Any], builtin: bool) -> Iterator[Problem]:
    runtime = runtime_of(manifest["runtime"]["type"])
    if runtime.is_own and not builtin:
        others = [name for name, each in runtimes().items() if not each.is_own]
        remedy = f"Write {', '.join(others[:-1])} or {others[-1]}."
        yield Problem("/runtime/type", f"Only the hub's own tools are {runtime.name}.", remedy)
    if is_own_name(manifest["name"]) and not builtin:
        message = "Names that begin with toolhub are kept for the hub's own packages."
        yield Problem("/name", message, "Give the package another name.")
    paths = {"/icon": manifest.get("icon"), "/runtime/requires": manifest["runtime"].get("requires")}
    paths |= runtime.files(manifest["runtime"])
    for place, path in paths.items():
        if path is not None and not is_package_path(path):
            yield _path_problem(place)
    for name, text in manifest.get("dependencies", {}).get("tools", {}).items():
        if not is_version_range(text):
            place = pointer(["dependencies", "tools", name])
            yield Problem(place, "This is no range of versions.", "Write ^1.2, >=1.0 <2.0, 1.4.0 or *.")
    if "config" in manifest:
        if manifest["config"].get("type") != "object":
            yield Problem("/config/type", "Settings are an object.", 'Write "type": "object".')
        yield from schema_problems(manifest["config"], "/config")
        yield from _settings_problems(manifest["config"])
    yield from config_check_problems(manifest)


def _settings_problems(config: Mapping[str, Any]) -> Iterator[Problem]:
    """Settings stand at the top of the schema; what is secret is a text without a default."""
    properties = config.get("properties", {})
    for name, setting in properties.items() if isinstance(properties, Mapping) else ():
        at = pointer(["config", "properties", name])
        if not _SETTING.fullmatch(name):
            remedy = "A letter, then letters, digits, _ and -; at most 64."
            yield Problem(at, "This cannot be a setting's name.", remedy)
        if not isinstance(setting, Mapping):
            continue
        if setting.get("secret") is True and setting.get("type") != "string":
            yield Problem(f"{at}/type", "A secret is a text.", 'Write "type": "string".')
        if setting.get("secret") is True and "default" in setting:
            yield Problem(f"{at}/default", "What everybody can read is no secret.", "Leave the default out.")
        if _has_secret({key: value for key, value in setting.items() if key != "secret"}):
            yield Problem(at, "Only a whole setting can be secret.", "Make the secret a setting of its own.")


def _has_secret(value: Any) -> bool:
    if isinstance(value, Mapping):
        return value.get("secret") is True or any(map(_has_secret, value.values()))
    return isinstance(value, list) and any(map(_has_secret, value))


def _path_problem(place: str) -> Problem:
    remedy = "Write it relative to the package, with forward slashes, without . and .. and no - in front."
    return Problem(place, "This is no path inside the package.", remedy)


def _tools_problems(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    runtime = runtime_of(manifest["runtime"]["type"])
    for index, definition in enumerate(manifest["tools"]):
        name, at = definition["name"], f"/tools/{index}"
        if name in seen:
            message = f"The tool {seen[name] + 1} of the list has the name {name} too."
            yield Problem(f"{at}/name", message, "Give each tool a name of its own.")
        if name in RESERVED:
            yield Problem(f"{at}/name", f"{name} is a word of the hub's API.", "Choose another name.")
        seen.setdefault(name, index)
        yield from tool_problems(definition, at)
        yield from _runtime_problems(
            runtime, _contract_of(definition), f"{at}/_meta/{pointer([CONTRACT])[1:]}"
        )
        yield from runtime.tool_problems(manifest, definition, at)


def _runtime_problems(runtime: Runtime, contract: Mapping[str, Any], at: str) -> Iterator[Problem]:
    """Members of a contract that its package's runtime does not have."""
    for kind in sorted(contract.get("hooks", {}).keys() - runtime.hooks):
        message = f"A tool of the runtime {runtime.name} has no hook {kind}."
        yield Problem(
            f"{at}/hooks/{kind}", message, "Leave it out. The tool itself can do what the hook does."
        )
    for other in runtimes().values():
        for name in sorted(contract.keys() & other.contract.keys() - runtime.contract.keys()):
            message = f"A tool of the runtime {runtime.name} has no {name}."
            yield Problem(
                f"{at}/{name}", message, f'Leave it out, or write "type": "{other.name}" in runtime.'
            )


def tool_problems(definition: Mapping[str, Any], at: str = "") -> Iterator[Problem]:
    """What is wrong with one tool whose form is right: schemas, examples, paths, ports."""
    schemas = {which: definition[which] for which in ("inputSchema", "outputSchema") if which in definition}
    bad = [problem for which in schemas for problem in schema_problems(schemas[which], f"{at}/{which}")]
    yield from bad
    contract = _contract_of(definition)
    here = f"{at}/_meta/{pointer([CONTRACT])[1:]}"
    for name in definition.get("_meta", {}):
        if name.startswith(_OURS) and name != CONTRACT:
            yield Problem(
                f"{at}/_meta{pointer([name])}", f"{name!r} is not known here.", f"Did you mean {CONTRACT}?"
            )
    if not bad:
        yield from _example_problems(schemas, contract.get("examples", []), f"{here}/examples")
    yield from contradiction_problems(contract, here)
    yield from effect_problems(contract.get("effects", []), f"{here}/effects")
    if "documentation" in contract and not is_package_path(contract["documentation"]):
        yield _path_problem(f"{here}/documentation")
    for index, host in enumerate(contract.get("network", {}).get("allow", [])):
        if not 1 <= int(host.rpartition(":")[2]) <= 65_535:
            yield Problem(f"{here}/network/allow/{index}", "There is no such port.", "A port is 1 to 65535.")


def _contract_of(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = definition.get("_meta", {}).get(CONTRACT, {})
    return found


def _example_problems(schemas: Mapping[str, Any], examples: list[Any], at: str) -> Iterator[Problem]:
    validators = {which: compiled(schema) for which, schema in schemas.items()}
    for index, example in enumerate(examples):
        for member, which in (("arguments", "inputSchema"), ("result", "outputSchema")):
            if member not in example or which not in validators:
                continue
            if validators[which].is_valid(example[member]):
                continue
            place = f"{at}/{index}/{member}"
            errors = validators[which].errors(example[member])
            if errors is None:
                place += pointer(validators[which].culprit(example[member]))
                yield Problem(place, f"It does not fit {which}.", "Mend one of the two.")
            for error in errors or ():
                for one in mismatches_of(error, schemas[which]):
                    message = f"It does not fit {which}. {one.message}"
                    yield Problem(f"{place}{pointer(one.path)}", message, "Mend one of the two.")
