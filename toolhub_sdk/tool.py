"""`@tool`: a typed function with its contract."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, Unpack, get_args

from toolhub_sdk.context import ToolContext
from toolhub_sdk.convert import Converter, converted, converter_of
from toolhub_sdk.errors import ToolError
from toolhub_sdk.hooks import Hook, arguments_judge, hooks_read
from toolhub_sdk.memory import Scope
from toolhub_sdk.normalise import normalise
from toolhub_sdk.schema import Schema, input_schema, output_schema, parameters_of
from toolhub_sdk.strict_json import JSON
from toolhub_sdk.terms import (
    Category,
    ContentChecks,
    DeclaredError,
    Determinism,
    Example,
    FieldKind,
    Isolation,
    Rule,
    SideEffects,
    Terms,
    terms_read,
)

_Function = TypeVar("_Function", bound=Callable[..., object])

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
_ATTRIBUTE = "__toolhub_tool__"


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """Everything that `@tool` knows about a function. Times are ms, sizes bytes.

    `bounds` are the further bounds, and `more` the further members of the contract, by their names in
    `toolhub.json`.
    """

    name: str
    title: str
    description: str
    function: str
    input_schema: Schema
    output_schema: Schema | None
    context_parameter: str | None
    converters: Mapping[str, Converter] = field(repr=False)
    hooks: Mapping[str, Hook] = field(default_factory=dict, repr=False)
    category: Category = "custom"
    tags: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    side_effects: SideEffects = "pure"
    idempotent: bool = True
    determinism: Determinism = "deterministic"
    timeout_ms: int = 30_000
    max_output_bytes: int = 1_048_576
    isolation: Isolation = "strict"
    network: tuple[str, ...] = ()
    memory: Mapping[Scope, Sequence[str]] = field(default_factory=dict)
    preconditions: tuple[Mapping[str, Any], ...] = ()
    effects: tuple[Mapping[str, Any], ...] = ()
    retry: str | Mapping[str, Any] = "NONE"
    errors: tuple[DeclaredError, ...] = ()
    examples: tuple[Example, ...] = ()
    validators: tuple[Rule, ...] = ()
    requires_approval: bool = False
    sanitise: bool = False
    content_checks: ContentChecks = "record"
    field_kinds: Mapping[str, FieldKind] = field(default_factory=dict)
    quick: bool = False
    bounds: Mapping[str, int] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"A tool's name matches {_NAME.pattern}, not {self.name!r}.")
        if not self.description:
            raise ValueError(f"{self.name} needs a docstring: it is what models read.")
        for value, allowed in (
            (self.category, Category),
            (self.side_effects, SideEffects),
            (self.determinism, Determinism),
            (self.isolation, Isolation),
            (self.content_checks, ContentChecks),
            *((kind, FieldKind) for kind in self.field_kinds.values()),
        ):
            if value not in get_args(allowed):
                raise ValueError(f"{self.name}: {value!r} is none of {', '.join(get_args(allowed))}.")


def tool(name: str | None = None, **terms: Unpack[Terms]) -> Callable[[_Function], _Function]:
    """Makes a typed function a tool; the function stays as it is and can be called.

    The description is the docstring, the schemas come from the annotations, a parameter of type ToolContext
    gets the run's context. The `terms` of the contract are those of Terms. Raises TypeError for annotations
    that have no schema, a term that is none and a hook that is none, ValueError for a malformed contract.
    """
    if not (name is None or isinstance(name, str)):
        raise TypeError("Write @tool() with parentheses.")

    def attach(function: _Function) -> _Function:
        said = terms_read(name or function.__name__, terms)
        setattr(function, _ATTRIBUTE, _spec(function, name or function.__name__, said))
        return function

    return attach


# Terms that stand in the contract under another name, or not at all where an author says nothing.
_BOUNDS: Mapping[str, str] = {
    "max_memory_bytes": "maxMemoryBytes",
    "max_disk_bytes": "maxDiskBytes",
    "max_cpu_ms": "maxCpuMs",
    "max_concurrency": "maxConcurrency",
}
_MORE: Mapping[str, str] = {
    "filesystem": "filesystem",
    "environment": "environment",
    "resource_requirements": "resourceRequirements",
    "recovery": "recovery",
    "cache": "cache",
    "documentation": "documentation",
}


def _spec(function: Callable[..., object], name: str, said: dict[str, Any]) -> ToolSpec:
    parameters, context_parameter = parameters_of(function)
    converters = {each.name: converter_of(each.annotation) for each in parameters}
    hooks = {kind: said.pop(kind, None) for kind in ("validate", "schema", "shutdown")}
    if "cache_seconds" in said:
        said["cache"] = {"ttlSeconds": said.pop("cache_seconds")}
    return ToolSpec(
        name=name,
        title=said.pop("title", "") or name.replace("_", " ").capitalize(),
        description=_description(function),
        function=function.__name__,
        input_schema=input_schema(function),
        output_schema=output_schema(function),
        context_parameter=context_parameter,
        converters={each: convert for each, convert in converters.items() if convert},
        hooks=hooks_read(name, converters, **hooks),
        bounds=_taken(said, _BOUNDS),
        more=_taken(said, _MORE),
        **said,
    )


def _taken(said: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The terms with these names, by those that they have in `toolhub.json`; they leave the others."""
    return {names[term]: said.pop(term) for term in names if term in said}


def spec_of(function: object) -> ToolSpec | None:
    """The contract that `@tool` attached; None for anything else."""
    spec = getattr(function, _ATTRIBUTE, None)
    return spec if isinstance(spec, ToolSpec) else None


def call(function: Callable[..., object], arguments: Mapping[str, Any], context: ToolContext) -> JSON:
    """Calls a tool with arguments that satisfy its input schema; its result as plain JSON.

    Raises what the tool raises, ToolError INVALID_ARGUMENTS where a value cannot be converted to its
    annotation or the `validate` hook refuses it, INVALID_OUTPUT where the result is not JSON, and TypeError
    for a function without `@tool`.
    """
    spec = spec_of(function)
    if spec is None:
        raise TypeError(f"{function!r} is no tool.")
    try:
        given = converted(arguments, spec.converters)
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise ToolError("INVALID_ARGUMENTS", f"An argument does not fit its type: {error}") from error
    if judge := spec.hooks.get("validate"):
        arguments_judge(function, judge, given)
    if spec.context_parameter is not None:
        given[spec.context_parameter] = context
    return normalise(function(**given))


def _description(function: Callable[..., object]) -> str:
    """The docstring with each paragraph on one line; lists and indented lines stay as they are."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(_unwrapped(each) for each in paragraphs).strip()


def _unwrapped(paragraph: str) -> str:
    lines = paragraph.splitlines()
    return paragraph if any(line.startswith(("-", "*", " ")) for line in lines) else " ".join(lines)
