"""Secrets reach a tool in the sandbox on a descriptor, and by no other way."""

import threading
import uuid
from typing import Any

import pytest

from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.models import Status
from execution.runners.perform import call_run
from registry.config.services import config_change
from registry.models import Release, ToolVersion
from security.models import User
from tests.sandbox.packages import publish

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]
KEY = "hunter2-hunter2"
CONFIG = {
    "type": "object",
    "properties": {"unit": {"type": "string"}, "api_key": {"type": "string", "secret": True}},
    "required": ["api_key"],
}
PYTHON = '''
import os
import sys
from pathlib import Path
from typing import Any

from toolhub_sdk import ToolContext, tool

@tool(name="safe_files")
def files(ctx: ToolContext) -> str:
    """Leaves one file with its secret and one without."""
    folder = Path("artefacts")
    folder.mkdir()
    (folder / "request.log").write_text("Authorization: Bearer " + ctx.secrets["api_key"])
    (folder / "answer.txt").write_text("fine")
    return "done"

@tool(name="safe_py")
def look(ctx: ToolContext) -> Any:
    """Where its secret can be seen."""
    secret = ctx.secrets["api_key"]
    places = {
        "environment": Path("/proc/self/environ").read_text() + str(dict(os.environ)),
        "command": Path("/proc/self/cmdline").read_text() + str(sys.argv),
        "repr": repr(ctx),
        "input": str(os.listdir("/work")),
    }
    seen = [name for name, text in places.items() if secret in text]
    return {"length": len(secret), "config": ctx.config, "seen": seen, "fd": "TOOLHUB_SECRETS_FD" in os.environ}
'''
SHELL = r"""#!/bin/sh
read -r request
read -r secrets <&$TOOLHUB_SECRETS_FD
test "$secrets" = '{"api_key":"hunter2-hunter2"}' && got=true || got=false
tr '\0' '\n' </proc/self/environ | grep -q hunter2 && seen=true || seen=false
case $request in *hunter2*) seen=true ;; *'"config":{"unit":"C"}'*) config=true ;; *) config=false ;; esac
echo "{\"got\": $got, \"seen\": $seen, \"config\": $config}"
"""


def manifest(name: str, runtime: dict[str, Any], tool: str, function: str) -> dict[str, Any]:
    contract = {"function": function, "category": "custom"}
    definition = {"name": tool, "description": "A tool.", "inputSchema": {"type": "object"}}
    definition["_meta"] = {"io.toolhub/contract": contract}
    return {"name": name, "version": "1.0.0", "runtime": runtime, "config": CONFIG, "tools": [definition]}


@pytest.fixture
def safe_py(db: None) -> Release:
    runtime = {"type": "python", "entry": "safe"}
    return publish(manifest("safe-py", runtime, "safe_py", "look"), {"safe.py": PYTHON.encode()})


@pytest.fixture
def safe_sh(db: None) -> Release:
    runtime = {"type": "command", "entry": ["sh", "tool.sh"]}
    return publish(manifest("safe-sh", runtime, "safe_sh", "look"), {"tool.sh": SHELL.encode()})


def perform(tool: str) -> Outcome:
    version = ToolVersion.objects.select_related("tool__package").get(tool__name=tool)
    call = Call(
        run_id=uuid.uuid4(),
        tool=tool,
        runner=version.runner,
        version=version,
        arguments={},
        request={},
        attempt=1,
        timeout_ms=60_000,
        max_output_bytes=10_000,
        inline=False,
        cancelled=threading.Event(),
    )
    return call_run(call)


def test_a_python_tool_has_its_secret_in_its_context_alone(safe_py: Release, admin: User) -> None:
    config_change(by=admin, package=safe_py.package, changes={"unit": "C", "api_key": KEY})
    expected = {"length": len(KEY), "config": {"unit": "C"}, "seen": [], "fd": False}
    assert perform("safe_py").data == expected
    # The second time by a program that was started before it was called.
    config_change(by=admin, package=safe_py.package, changes={"api_key": KEY + "!"})
    assert perform("safe_py").data == {**expected, "length": len(KEY) + 1}


def test_a_command_reads_its_secrets_from_a_descriptor(safe_sh: Release, admin: User) -> None:
    config_change(by=admin, package=safe_sh.package, changes={"unit": "C", "api_key": KEY})
    assert perform("safe_sh").data == {"got": True, "seen": False, "config": True}


def test_a_tool_without_what_it_needs_is_not_started(safe_sh: Release) -> None:
    done = perform("safe_sh")
    assert (done.status, done.error and done.error["code"]) == (Status.FAILED, "NOT_CONFIGURED")
    assert done.sandbox is None


def test_a_file_with_a_secret_in_it_is_left_out(db: None, admin: User) -> None:
    runtime = {"type": "python", "entry": "safe"}
    release = publish(manifest("safe-py", runtime, "safe_files", "files"), {"safe.py": PYTHON.encode()})
    config_change(by=admin, package=release.package, changes={"api_key": KEY})
    done = perform("safe_files")
    assert done.data == "done", done.error
    assert [name for name, _ in done.files] == ["answer.txt"]
    assert KEY not in str(done.sandbox)
    assert done.warnings == ("1 of its files were left out: something in them must not be told.",)
