"""Hostile programs of other runtimes: Node, a shell, a compiled module. What they try is bounded or refused."""

import json
import shutil
import uuid
from collections.abc import Callable

import pytest

from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.models import Status
from execution.runners.perform import call_run
from registry.models import ToolVersion
from tests.sandbox.packages import command_manifest, publish

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]
Perform = Callable[..., Outcome]
# Each answers what it got; a tool that got nothing answers an empty list.
NODE_LOOKS = """
const got = [];
const attempt = (name, act) => { try { if (act()) got.push(name); } catch {} };
const fs = require("fs"), child = require("child_process"), os = require("os");
attempt("parent", () => process.kill(process.ppid, "SIGKILL") && process.ppid !== 0 && false);
attempt("passwords", () => fs.readFileSync("/etc/shadow").length);
attempt("environment", () => fs.readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).some((pid) =>
  { try { return fs.readFileSync(`/proc/${pid}/environ`, "utf8").includes("TOOLHUB_"); } catch { return false; } }));
attempt("setuid", () => (process.setuid(0), process.getuid() === 0));
attempt("namespace", () => child.spawnSync("unshare", ["-Ur", "true"]).status === 0);
attempt("interfaces", () => Object.values(os.networkInterfaces()).flat().some((one) => !one.internal));
attempt("binding", () => process.binding("fs").internalModuleReadJSON("/etc/shadow").length);
fs.mkdirSync("/tmp/x", { recursive: true });
"""
NODE_TELLS = "process.stdout.write(JSON.stringify(got));\n"
# Memory that no heap of V8 counts, in threads.
NODE_MEMORY = """
const { Worker } = require("worker_threads");
for (let n = 0; n < 8; n++) new Worker(
  "const kept = []; for (let n = 0; n < 64; n++) kept.push(new SharedArrayBuffer(16 << 20)," +
  " new Uint8Array(16 << 20).fill(1)); setTimeout(() => {}, 20000)", { eval: true });
setTimeout(() => process.stdout.write("[]"), 20000);
"""
# Leaves files for its caller that are others: links, pipes, holes, and a folder that is swapped while it ends.
SHELL_FILES = """
read -r request
ln -s /etc artefacts 2>/dev/null; rm -f artefacts; mkdir artefacts; cd artefacts
ln -s /etc/passwd link; ln /etc/passwd hard 2>/dev/null; mkfifo pipe; mkdir folder
echo fine >fine; ln fine twice; truncate -s 40M hole; chmod 000 fine
printf '[]'
(cd ..; while :; do mv artefacts gone; ln -s /etc artefacts; rm artefacts; mv gone artefacts; done) >/dev/null 2>&1 &
"""


@pytest.fixture
def perform(db: None) -> Perform:
    """Publishes a command of one file and carries it out: `perform(["node", "tool.js"], code)`."""

    def do(entry: list[str], code: str) -> Outcome:
        # A release is known by its manifest, and its files are unpacked once.
        publish(command_manifest(entry, f"1.0.{len(code)}"), {entry[-1]: code.encode()})
        version = ToolVersion.objects.get(tool__name="shell_box")
        call = Call(
            run_id=uuid.uuid4(),
            tool="shell_box",
            runner=version.runner,
            version=version,
            arguments={},
            request={},
            attempt=1,
            timeout_ms=30_000,
            max_output_bytes=version.max_output_bytes,
            inline=False,
        )
        return call_run(call)

    return do


@pytest.mark.skipif(shutil.which("node") is None, reason="this machine has no Node")
def test_a_program_of_node_gets_at_nothing(perform: Perform) -> None:
    done = perform(["node", "tool.js"], NODE_LOOKS + NODE_TELLS)
    assert done.data == [], done.error


@pytest.mark.skipif(shutil.which("node") is None, reason="this machine has no Node")
def test_memory_of_nodes_threads_is_counted(perform: Perform) -> None:
    done = perform(["node", "tool.js"], NODE_MEMORY)
    assert done.status == Status.FAILED, done.data
    assert done.error is not None
    assert done.error["code"] in {"RESOURCE_EXCEEDED", "EXECUTION_FAILED"}, json.dumps(dict(done.error))
    assert done.resources["max_memory_bytes"] < 1 << 30


def test_files_for_the_caller_that_are_others_are_not_taken(perform: Perform) -> None:
    done = perform(["sh", "tool.sh"], SHELL_FILES)
    assert done.data == [], done.error
    assert all(b"root:" not in content for _, content in done.files)
    assert {name for name, _ in done.files} <= {"fine"}
