"""Programs of any language: one JSON request on standard input, one JSON result on standard output.

The request is `{arguments, context, tool, config}`; secrets come on a descriptor of their own. With exit code
0, standard output is the result. With any other, it may be the tool's own error: `{code, message,
recoverable, suggestions}`.
"""

from datetime import datetime
from typing import Any

from core.errors import error_object
from core.json.strict import DEFAULT, Limits, StrictJSONError, loads
from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.models import Status
from execution.runners.defaults import arguments_of
from execution.runners.judging import ended, error_read, given, said_itself, tool_error
from execution.runners.machine_paths import told
from execution.runners.sandboxed import exit_failed
from execution.side_effects import SideEffect
from security.sandbox.launch import Finished


def request_of(call: Call) -> dict[str, Any]:
    """What the program reads: `{arguments, context, tool, config}`."""
    context = {
        "run_id": str(call.run_id),
        "version": call.version.version,
        "attempt": call.attempt,
        "timeout_ms": call.timeout_ms,
        "degraded": list(call.degraded),
        **({"memory": call.memory["found"]} if call.memory else {}),
        **call.request.get("context", {}),
        **{name: call.request[name] for name in ("context_data", "hints") if name in call.request},
    }
    config = {"config": call.settings.values} if call.settings.values else {}
    tool = call.version.definition["name"]
    return {"arguments": arguments_of(call), "context": context, "tool": tool, **config}


def judge(call: Call, done: Finished, started_at: datetime) -> Outcome:
    """What the end of a program means."""
    try:
        said = loads(done.stdout, limits=Limits(len(done.stdout) + 1, DEFAULT.max_depth))
    except StrictJSONError as error:
        if done.exit_code != 0:
            return exit_failed(call, done, started_at)
        wrong = error_object("INVALID_OUTPUT", f"The tool's output is not JSON: {error.message}")
        return ended(
            Status.FAILED,
            wrong,
            started_at=started_at,
            duration_ms=done.duration_ms,
            side_effect=SideEffect.DONE,
        )
    if done.exit_code == 0:
        return given(call, said, started_at=started_at, duration_ms=done.duration_ms)
    own = error_read(told(call, said))
    return ended(
        Status.FAILED,
        tool_error(call, own),
        started_at=started_at,
        duration_ms=done.duration_ms,
        side_effect=said_itself(own),
    )
