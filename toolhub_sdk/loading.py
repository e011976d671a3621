"""Checks that a loaded module has the functions that a contract names, and that they take the arguments."""

import difflib
import inspect
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from toolhub_sdk.tool import ToolSpec, spec_of

NEAR_MOST = 3


def function_problems(
    module: ModuleType, function: str, hooks: Mapping[str, str], schema: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a sentence for each call that would fail before the tool's code begins.

    `hooks` are the names of functions by kind, `schema` is the tool's inputSchema.
    """
    found = getattr(module, function, None)
    if found is None:
        yield _missing(module, "function", function)
        return
    spec = spec_of(found)
    if spec is None:
        yield f"{module.__name__}.{function} is not a tool: write @tool(…) above the function."
        return
    yield from _argument_problems(f"{module.__name__}.{function}", found, spec, schema)
    for kind, name in hooks.items():
        yield from _hook_problems(module, spec, kind, name, schema)


def _missing(module: ModuleType, what: str, name: str) -> str:
    own = [each for each, value in vars(module).items() if callable(value) and not each.startswith("_")]
    near = difflib.get_close_matches(name, own, NEAR_MOST)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"The module {module.__name__} has no {what} {name}.{hint}"


def _argument_problems(
    place: str, function: Callable[..., object], spec: ToolSpec, schema: Mapping[str, Any]
) -> Iterator[str]:
    """The parameters have to fit every call that inputSchema admits by its `properties` and `required`."""
    parameters = inspect.signature(function).parameters
    open_ended = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    sent, always = schema.get("properties", {}), schema.get("required", [])
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for name in sent:
        if not open_ended and (name not in parameters or parameters[name].kind not in by_name):
            yield f"inputSchema has the argument {name}, and {place} has no parameter of that name."
    for name, each in parameters.items():
        if name == spec.context_parameter or each.kind not in by_name or each.default is not each.empty:
            continue
        if name not in sent:
            yield f"{place} needs the parameter {name}, and inputSchema has no argument of that name."
        elif name not in always:
            yield f"{place} needs the parameter {name}: give it a default, or add {name} to `required`."


def _hook_problems(
    module: ModuleType, spec: ToolSpec, kind: str, name: str, schema: Mapping[str, Any]
) -> Iterator[str]:
    hook = getattr(module, name, None)
    if not callable(hook):
        yield _missing(module, f"hook {kind}, the function", name)
        return
    attached = spec.hooks.get(kind)
    if kind != "schema" and attached is not hook:
        yield f"The hook {kind} is {name} in the manifest; the tool needs @tool({kind}={name})."
        return
    given: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
        "schema": ((None,), {}),
        "shutdown": ((), {}),
        "validate": ((), _taken(hook, schema)),
    }
    positional, named = given[kind]
    try:
        inspect.signature(hook).bind(*positional, **named)
    except TypeError as error:
        yield f"The hook {kind} cannot be called: {name}: {error}."


def _taken(hook: Callable[..., object], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the tool that a `validate` hook names."""
    names = inspect.signature(hook).parameters
    return {name: None for name in schema.get("properties", {}) if name in names}
