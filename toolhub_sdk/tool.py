"""`@tool`: a typed function with its contract."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from toolhub_sdk.context import ToolContext
from toolhub_sdk.convert import Converter, converted, converter_of
from toolhub_sdk.errors import ToolError
from toolhub_sdk.hooks import Hook, arguments_judge, hooks_read
from toolhub_sdk.memory import Scope
from toolhub_sdk.normalise import normalise
from toolhub_sdk.schema import Schema, input_schema, output_schema, parameters_of
from toolhub_sdk.strict_json import JSON

Category: TypeAlias = Literal["system", "file", "network", "data", "memory", "code", "mcp", "custom"]
SideEffects: TypeAlias = Literal["pure", "impure"]
Determinism: TypeAlias = Literal["deterministic", "bounded", "non_deterministic"]
ErrorType: TypeAlias = Literal[
    "execution", "validation", "timeout", "resource", "security", "network", "dependency"
]
Severity: TypeAlias = Literal["low", "medium", "high", "critical"]
Isolation: TypeAlias = Literal["none", "basic", "strict", "paranoid"]
ContentChecks: TypeAlias = Literal["record", "block", "off"]
FieldKind: TypeAlias = Literal["path", "command", "sql", "url", "html", "text", "code"]

_Function = TypeVar("_Function", bound=Callable[..., object])

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
_ATTRIBUTE = "__toolhub_tool__"


@dataclass(frozen=True)
class DeclaredError:
    """A code of the tool's own that its ToolErrors may carry, and what a caller can do about it.

    `description` says when it comes; `type` is its class. An error of this code has these where it says
    nothing else, and is never recoverable where it is declared not to be.
    """

    code: str
    recoverable: bool = True
    suggestions: Sequence[str] = ()
    description: str = ""
    type: ErrorType = "execution"
    severity: Severity = "medium"

    def __post_init__(self) -> None:
        if self.type not in get_args(ErrorType) or self.severity not in get_args(Severity):
            raise ValueError(
                f"{self.code}: {self.type} or {self.severity} is no class or severity of errors."
            )


@dataclass(frozen=True)
class Rule:
    """What must hold of a call beyond its schema: CEL over `arguments`, `context`, `context_data`, `persona`.

    `message` is what a caller reads when it does not; `pointer` the argument that it is about (RFC 6901).
    """

    expression: str
    message: str
    pointer: str = ""


@dataclass(frozen=True)
class Example:
    """A call that shows the tool, run as the self-test when its package is installed.

    Without a `result` the result only has to fit the output schema, for tools that depend on the clock.
    """

    arguments: Mapping[str, Any]
    result: Any = ...
    description: str = ""


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
    category: Category
    tags: tuple[str, ...]
    capabilities: tuple[str, ...]
    side_effects: SideEffects
    idempotent: bool
    determinism: Determinism
    timeout_ms: int
    max_output_bytes: int
    isolation: Isolation
    network: tuple[str, ...]
    memory: Mapping[Scope, Sequence[str]]
    preconditions: tuple[Mapping[str, Any], ...]
    effects: tuple[Mapping[str, Any], ...]
    retry: str | Mapping[str, Any]
    errors: tuple[DeclaredError, ...]
    examples: tuple[Example, ...]
    validators: tuple[Rule, ...]
    input_schema: Schema
    output_schema: Schema | None
    context_parameter: str | None
    converters: Mapping[str, Converter] = field(repr=False)
    hooks: Mapping[str, Hook] = field(default_factory=dict, repr=False)
    requires_approval: bool = False
    sanitise: bool = False
    content_checks: ContentChecks = "record"
    field_kinds: Mapping[str, FieldKind] = field(default_factory=dict)
    bounds: Mapping[str, int] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"A tool's name matches {_NAME.pattern}, not {self.name!r}.")
        if not self.description:
            raise ValueError(f"{self.name} needs a docstring: it is what models read.")
        if min(self.timeout_ms, self.max_output_bytes, *self.bounds.values()) <= 0:
            raise ValueError(f"{self.name}: bounds are greater than 0.")
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


def tool(
    name: str | None = None,
    *,
    title: str | None = None,
    category: Category = "custom",
    capabilities: Sequence[str] = (),
    side_effects: SideEffects = "pure",
    idempotent: bool = True,
    determinism: Determinism = "deterministic",
    timeout_ms: int = 30_000,
    max_output_bytes: int = 1_048_576,
    tags: Sequence[str] = (),
    examples: Sequence[Example] = (),
    errors: Sequence[DeclaredError] = (),
    isolation: Isolation = "strict",
    network: Sequence[str] = (),
    memory: Mapping[Scope, Sequence[str]] | None = None,
    preconditions: Sequence[Mapping[str, Any]] = (),
    effects: Sequence[Mapping[str, Any]] = (),
    retry: str | Mapping[str, Any] = "NONE",
    validators: Sequence[Rule] = (),
    validate: Hook | None = None,
    schema: Hook | None = None,
    shutdown: Hook | None = None,
    requires_approval: bool = False,
    sanitise: bool = False,
    content_checks: ContentChecks = "record",
    field_kinds: Mapping[str, FieldKind] | None = None,
    max_memory_bytes: int | None = None,
    max_disk_bytes: int | None = None,
    max_cpu_ms: int | None = None,
    max_concurrency: int | None = None,
    filesystem: Mapping[Literal["read", "write"], Sequence[str]] | None = None,
    environment: Mapping[str, str] | None = None,
    resource_requirements: Mapping[str, int] | None = None,
    recovery: Mapping[str, Any] | None = None,
    cache_seconds: int | None = None,
    documentation: str | None = None,
) -> Callable[[_Function], _Function]:
    """Makes a typed function a tool; the function stays as it is and can be called.

    The description is the docstring, the schemas come from the annotations, a parameter of type ToolContext
    gets the run's context. `network` lists the `host:port` it may reach, `memory` the keys that it uses, by
    scope; `retry` is NONE, QUICK, STANDARD, AGGRESSIVE or a policy; it, `preconditions`, `effects`,
    `filesystem`, `environment`, `resource_requirements` and `recovery` are as in `toolhub.json`. Bounds that
    are not named are the hub's; `documentation` is a Markdown file of the package. `validate`, `schema` and
    `shutdown` are functions of the module, see docs/authoring.md. With `requires_approval` a person approves
    each call; with `sanitise` texts come in NFC, without control and bidi characters. `content_checks` says
    what is done about arguments that look like attacks, and `field_kinds` which kind of field each is, by
    JSON Pointer, where neither schema nor name says it. Raises TypeError for annotations that have no schema
    and for a hook that is none, ValueError for a malformed contract.
    """
    if not (name is None or isinstance(name, str)):
        raise TypeError("Write @tool() with parentheses.")

    def attach(function: _Function) -> _Function:
        parameters, context_parameter = parameters_of(function)
        converters = {each.name: converter_of(each.annotation) for each in parameters}
        tool_name = name or function.__name__
        spec = ToolSpec(
            name=tool_name,
            title=title or tool_name.replace("_", " ").capitalize(),
            description=_description(function),
            function=function.__name__,
            category=category,
            tags=tuple(tags),
            capabilities=tuple(capabilities),
            side_effects=side_effects,
            idempotent=idempotent,
            determinism=determinism,
            timeout_ms=timeout_ms,
            max_output_bytes=max_output_bytes,
            isolation=isolation,
            network=tuple(network),
            memory=dict(memory or {}),
            preconditions=tuple(preconditions),
            effects=tuple(effects),
            retry=retry,
            errors=tuple(errors),
            examples=tuple(examples),
            validators=tuple(validators),
            input_schema=input_schema(function),
            output_schema=output_schema(function),
            context_parameter=context_parameter,
            converters={each: convert for each, convert in converters.items() if convert},
            hooks=hooks_read(tool_name, converters, validate=validate, schema=schema, shutdown=shutdown),
            requires_approval=requires_approval,
            sanitise=sanitise,
            content_checks=content_checks,
            field_kinds=dict(field_kinds or {}),
            bounds=_given(
                maxMemoryBytes=max_memory_bytes,
                maxDiskBytes=max_disk_bytes,
                maxCpuMs=max_cpu_ms,
                maxConcurrency=max_concurrency,
            ),
            more=_given(
                filesystem=filesystem,
                environment=environment,
                resourceRequirements=resource_requirements,
                recovery=recovery,
                cache=None if cache_seconds is None else {"ttlSeconds": cache_seconds},
                documentation=documentation,
            ),
        )
        setattr(function, _ATTRIBUTE, spec)
        return function

    return attach


def _given(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


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
