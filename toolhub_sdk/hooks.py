"""Functions beside the tool's own: `validate` before it, `schema` for its arguments, `shutdown` at the end.

None of them is a call of the tool. They run where the tool runs, held by the same sandbox.
"""

import inspect
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolhub_sdk.context import ToolContext
from toolhub_sdk.errors import ToolError
from toolhub_sdk.normalise import normalise
from toolhub_sdk.strict_json import JSON

Hook = Callable[..., object]

# All shutdown hooks of a process together, in seconds.
SHUTDOWN_S = 1.0


def hooks_read(
    tool: str, parameters: Iterable[str], *, validate: Hook | None, schema: Hook | None, shutdown: Hook | None
) -> dict[str, Hook]:
    """The hooks of a tool by kind. Raises TypeError for one that is no function of a module, or that asks
    for an argument that the tool does not have.
    """
    found = {"validate": validate, "schema": schema, "shutdown": shutdown}
    hooks = {kind: hook for kind, hook in found.items() if hook is not None}
    for kind, hook in hooks.items():
        name = getattr(hook, "__qualname__", "<")
        if not name.isidentifier():
            raise TypeError(f"{tool}: the hook {kind} has to be a function of the module.")
    if validate is not None and (unknown := _names(validate) - set(parameters)):
        raise TypeError(
            f"{tool}: {validate.__name__} asks for {', '.join(sorted(unknown))}, which it has not."
        )
    return hooks


def _names(function: Hook) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {each.name for each in parameters if each.kind is not each.VAR_KEYWORD}


def arguments_judge(function: Callable[..., object], hook: Hook, given: Mapping[str, Any]) -> None:
    """Asks a tool's `validate` hook about arguments; it gets those that it names, with the tool's defaults.

    The hook returns None where all is well, a sentence, or an object of argument → sentence. Raises ToolError
    INVALID_ARGUMENTS with what it says, TypeError for anything else that it returns, and what it raises.
    """
    bound = inspect.signature(function).bind_partial(**given)
    bound.apply_defaults()
    parameters = inspect.signature(hook).parameters.values()
    open_ended = any(each.kind is each.VAR_KEYWORD for each in parameters)
    names = {each.name for each in parameters}
    kept = {
        name: value
        for name, value in bound.arguments.items()
        if (open_ended or name in names) and not isinstance(value, ToolContext)
    }
    said = hook(**kept)
    if said is None or said == {}:
        return
    if isinstance(said, str):
        said = {"": said}
    if not isinstance(said, Mapping) or not all(isinstance(each, str) for each in said.values()):
        raise TypeError("A validate hook returns None, a sentence, or an object of sentences.")
    errors = [{"pointer": _pointer(str(name)), "message": message} for name, message in said.items()]
    raise ToolError("INVALID_ARGUMENTS", errors[0]["message"], details={"errors": errors})


def _pointer(name: str) -> str:
    """Where an argument stands in the call: `to` and `/to` are the same."""
    name = name.removeprefix("/")
    return f"/arguments/{name}" if name else "/arguments"


def schema_make(hook: Hook, context: ToolContext) -> JSON:
    """The JSON Schema that a tool's `schema` hook makes for a context. Raises what the hook raises."""
    return normalise(hook(context))


def shutdown_all(hooks: Iterable[Hook]) -> None:
    """Calls each hook once, all together for at most a second.

    One that fails is told on standard error; the others are called all the same.
    """
    worker = threading.Thread(target=_call_each, args=(list(dict.fromkeys(hooks)),), daemon=True)
    worker.start()
    worker.join(SHUTDOWN_S)


def _call_each(hooks: Iterable[Hook]) -> None:
    for hook in hooks:
        try:
            hook()
        except BaseException:  # noqa: BLE001 - the process ends in any case
            traceback.print_exc()
