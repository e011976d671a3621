"""Runs Python code that somebody writes into a call: only ever in a sandbox, which holds it."""

import subprocess
import sys
from typing import Annotated

from toolhub_sdk import DeclaredError, Example, Field, ToolContext, ToolError, tool

SHOWN = 4000


@tool(
    title="Run Python",
    category="code",
    determinism="non_deterministic",
    timeout_ms=30_000,
    tags=("interpreter",),
    errors=(DeclaredError("CODE_FAILED", True, ("Mend the code by the traceback in details.",)),),
    examples=(Example({"code": "print(sum(range(5)))"}, "10"),),
)
def run_python(
    code: Annotated[
        str, Field(description="A program in Python 3; it prints its result.", max_length=50_000)
    ],
    context: ToolContext,
) -> str:
    """Runs a Python program and returns what it printed, without the last line break.

    The program has the standard library, no network, and an empty folder to work in. Files that it leaves in
    the folder artefacts are offered with the run. Nothing is kept for the next call.
    """
    command = [sys.executable, "-I", "-B", "-X", "utf8", "-c", code]
    done = subprocess.run(
        command, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=context.seconds_left()
    )
    printed = done.stdout.decode(errors="replace")
    if done.returncode == 0:
        return printed.removesuffix("\n")
    said = done.stderr.decode(errors="replace").strip()
    reason = said.splitlines()[-1][:300] if said else f"exit code {done.returncode}"
    raise ToolError(
        "CODE_FAILED",
        f"The code failed: {reason}",
        details={"output": printed[-SHOWN:], "traceback": said[-SHOWN:]},
    )
