"""The way into a Python tool inside a sandbox: one request on standard input, lines of JSON back.

The request is `{function, arguments, context, config, memory, fixed, seconds}`; `memory` is `{found,
named}` where the contract names keys, `fixed` holds time and seed where the tool's time and chance are the
run's. With `"hook": "schema"` the function is the tool's schema hook. With `look`, `{hooks, schema, only}`,
the functions that the contract names are checked before the call (loading.py), or instead of it with `only`.
Secrets come on the descriptor that TOOLHUB_SECRETS_FD names. The module is imported before the request is
there, as that takes longest.

An empty line marks that the tool begins; where its module could not be imported there is none. The lines
after it are `{"emit": …}`, `{"log": message, "level": …, "fields": …}` and at last one of `{"result": …}`,
with `memory` where it was changed, `{"error": …}`, `{"cancelled": true}`, `{"failed": kind, "message": …}`,
with the reason in `loading` where the module could not be imported, `{"unfit": [sentence]}` and
`{"exceeded": "memory"}`.
They go to a descriptor that programs of the tool do not inherit; what the tool prints goes to standard error.
"""

import importlib
import json
import os
import random
import signal
import site
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from datetime import datetime
from types import FrameType, ModuleType
from typing import Any

from toolhub_sdk.context import CLIP, FixedClock, ToolContext
from toolhub_sdk.errors import Cancelled, ToolError, exception_text
from toolhub_sdk.hooks import Hook, schema_make, shutdown_all
from toolhub_sdk.loading import function_problems
from toolhub_sdk.memory import Memory
from toolhub_sdk.normalise import normalise
from toolhub_sdk.tool import call, spec_of

# Of why a module cannot be imported, so many characters are told.
REASON_MOST = 400


class _Told:
    """Whether the run was asked to stop. A plain mark: a lock may be held when the signal comes."""

    def __init__(self) -> None:
        self._told = False

    def is_set(self) -> bool:
        return self._told

    def tell(self, number: int, frame: FrameType | None) -> None:
        self._told = True


class _Lines:
    """Writes lines of JSON, each of them whole also when several threads write."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def mark(self) -> None:
        """The tool's code begins: what was done before was its start."""
        os.write(self._descriptor, b"\n")

    def write(self, line: Mapping[str, Any]) -> None:
        view = memoryview(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        with self._lock:
            while view:
                view = view[os.write(self._descriptor, view) :]


def main() -> None:
    """Serves one request and ends the process.

    The arguments after the SDK's folder are the tool's module and folders to import from: the package's is
    the last, the others are of its dependencies.
    """
    # A copy that programs started by the tool do not get; they and print() write to the log.
    lines = _Lines(os.dup(1))
    os.dup2(2, 1)
    told = _Told()
    signal.signal(signal.SIGTERM, told.tell)
    module, *environments, package = sys.argv[2:]
    for folder in environments:
        site.addsitedir(folder)
    sys.path.insert(0, package)
    sys.argv = [module]
    # The helpers of an interactive Python, which some tools call: exit() and quit().
    site.setquit()
    # Programs of the tool, and whoever reads its environment, do not see where they come from.
    hidden = os.environ.pop("TOOLHUB_SECRETS_FD", None)
    if hidden:
        os.set_inheritable(int(hidden), False)
    loaded, failed = _load(module)
    # A process that was started in advance and is not wanted any more gets no request.
    if given := sys.stdin.buffer.read():
        request = json.loads(given) | _secrets(hidden)
        if not failed:
            lines.mark()
        lines.write(failed or answer(loaded, request, told, lines.write))
    if hooks := _shutdown_hooks(loaded):
        shutdown_all(hooks)
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads that the tool left behind do not hold up its answer.
    os._exit(0)


def _shutdown_hooks(module: ModuleType | None) -> list[Hook]:
    specs = [spec for value in vars(module).values() if (spec := spec_of(value))] if module else []
    return [spec.hooks["shutdown"] for spec in specs if "shutdown" in spec.hooks]


def _secrets(descriptor: str | None) -> dict[str, Any]:
    """What came on the descriptor, as a member of the request."""
    if not descriptor:
        return {}
    with open(int(descriptor), "rb") as given:
        return {"secrets": json.loads(given.read() or b"{}")}


def _load(module: str) -> tuple[ModuleType | None, dict[str, Any] | None]:
    """The tool's module, or the last line that says why it cannot be imported."""
    try:
        return importlib.import_module(module), None
    except MemoryError:
        return None, {"exceeded": "memory"}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it was, the hub hears of its kind
        traceback.print_exc()
        return None, {**_failed(error), "loading": _reason(error)}


def _reason(error: BaseException) -> str:
    """The text of an error without the places of this machine that the tool is imported from."""
    text = _text(error)
    for folder in sorted((each for each in sys.path if each), key=len, reverse=True):
        text = text.replace(folder, "")
    return text[:REASON_MOST]


def answer(
    module: ModuleType | None,
    request: Mapping[str, Any],
    told: _Told,
    write: Callable[[Mapping[str, Any]], None],
) -> dict[str, Any]:
    """Carries a request out; the last line. `write` takes those before it."""
    try:
        if (look := request.get("look")) and module:
            unfit = list(function_problems(module, request["function"], look["hooks"], look["schema"]))
            if unfit or look["only"]:
                return {"unfit": unfit} if unfit else {"result": None}
        function = getattr(module, request["function"])
        context = _context(request, told, write)
        if request.get("hook") == "schema":
            return {"result": schema_make(function, context)}
        result = call(function, request["arguments"], context)
        return {"result": result, **({"memory": changes} if (changes := context.memory.changes) else {})}
    except Cancelled:
        return {"cancelled": True} if told.is_set() else {"failed": "Cancelled"}
    except ToolError as error:
        return {"error": _error(error)}
    except MemoryError:
        return {"exceeded": "memory"}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it was, the hub hears of its kind
        traceback.print_exc()
        return _failed(error)


def _failed(error: BaseException) -> dict[str, Any]:
    return {"failed": type(error).__name__, "message": _text(exception_text(error))}


def _context(
    request: Mapping[str, Any], told: _Told, write: Callable[[Mapping[str, Any]], None]
) -> ToolContext:
    context = ToolContext(
        cancelled=told,
        deadline=time.monotonic() + request["seconds"],
        on_emit=lambda partial: write({"emit": partial}),
        on_log=lambda message, fields, level: write(
            {"log": _text(message), "level": str(level), "fields": _said(fields)}
        ),
        config=request.get("config", {}),
        secrets=request.get("secrets", {}),
        **request["context"],
    )
    if memory := request.get("memory"):
        context.memory = Memory(memory["found"], memory["named"])
    if fixed := request.get("fixed"):
        context.clock = FixedClock(datetime.fromisoformat(fixed["now"]))
        context.random = random.Random(int(fixed["seed"]))  # noqa: S311 - it has to repeat
    return context


def _said(fields: Mapping[str, Any]) -> dict[str, str]:
    return {_text(name): _text(value)[:CLIP] for name, value in fields.items()}


def _text(value: object) -> str:
    """What is logged is no reason to fail: halves of characters are replaced."""
    return str(value).encode(errors="replace").decode()


def _error(error: ToolError) -> dict[str, Any]:
    """The tool's error as JSON; where it is none, an error that says so."""
    made = {
        "code": error.code,
        "message": error.message,
        "recoverable": error.recoverable,
        "retryable": error.retryable,
        "suggestions": list(error.suggestions),
        "details": error.details,
    }
    try:
        plain: Any = normalise(made)
    except ToolError as unfit:
        return _error(unfit)
    return dict(plain)
