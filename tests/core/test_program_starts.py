"""Every helper program is started by core/programs.py, which bounds it: the source is walked for others."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

PACKAGES = (
    "core",
    "audit",
    "security",
    "registry",
    "execution",
    "monitoring",
    "toolhub",
    "toolhub_sdk",
    "catalogue",
)
MODULES = {"subprocess", "pty", "multiprocessing", "concurrent.futures.process"}
STARTS = {"fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp", "startfile"}
# What a module without any start does not have: most need not be parsed.
LIKELY = re.compile(
    r"subprocess|multiprocessing|\bpty\b|\bposix\b|from os import|process import"
    r"|\bos\.(?:fork|exec|spawn|popen|system|posix_spawn|startfile)"
)
# Where else a process begins, and what bounds it there.
ALLOWED = {
    "core/programs.py": "the helper programs",
    "catalogue/packages/run-python/run_python.py": "a tool: the sandbox bounds it and its children",
    "execution/runners/command/program_look.py": "runs inside the sandbox",
    "execution/runners/program_repeat.py": "runs inside the sandbox",
    "registry/scratch.py": "rm of a folder of the hub's own",
    "security/sandbox/cgroups.py": "a sleep that shows whether groups work",
    "security/sandbox/doctor.py": "--version of bubblewrap, 10 s",
    "security/sandbox/fence.py": "becomes the program that core/programs.py started",
    "security/sandbox/folders.py": "rm of a folder of the hub's own",
    "security/sandbox/nursery.py": "the supervisor of a sandbox",
    "security/sandbox/run.py": "rm of a work folder",
    "security/sandbox/supervisor/branch.py": "the supervisor of a sandbox",
    "security/sandbox/supervisor/child.py": "a tool, with the limits of its sandbox",
    "security/sandbox/supervisor/network.py": "the supervisor of a sandbox",
    "security/sandbox/supervisor/main.py": "the supervisor of a sandbox",
    "security/sandbox/supervisor/start.py": "a tool, with the limits of its sandbox",
    "security/sandbox/supervisor/nursery.py": "the supervisor of a sandbox",
    "security/sandbox/zygote.py": "a tool, with the limits of its sandbox",
    "toolhub/management/commands/process.py": "becomes a process of the hub",
    "toolhub/processes/fork.py": "a process of the hub",
    "toolhub_sdk/runtimes/local.py": "the author's own tool on the author's machine",
    "toolhub_sdk/runtimes/python/__init__.py": "the author's own module on the author's machine",
}


def starts(source: str) -> Iterator[str]:
    """The names of what starts a process in a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom):
            names = {each.name for each in node.names}
            if (node.module or "") in MODULES or (
                node.module in {"os", "posix"} and any(_starts(name) for name in names)
            ):
                yield str(node.module)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in {"os", "posix"} and _starts(node.attr):
                yield f"{node.value.id}.{node.attr}"
            elif node.value.id == "asyncio" and node.attr.startswith("create_subprocess"):
                yield f"asyncio.{node.attr}"


def _starts(name: str) -> bool:
    return name in STARTS or name.startswith(("exec", "spawn"))


def test_no_other_module_starts_a_program() -> None:
    root = Path(settings.ROOT)
    found = {}
    for package in PACKAGES:
        for file in (root / package).rglob("*.py"):
            source = file.read_text(encoding="utf-8")
            if LIKELY.search(source) and (names := sorted(set(starts(source)))):
                found[file.relative_to(root).as_posix()] = names
    assert found.keys() - ALLOWED.keys() == set(), "start it by core.programs.program_run"
    assert ALLOWED.keys() - found.keys() == set(), "a row that is not needed any more"


def test_the_walk_finds_each_way_to_start_one() -> None:
    for line in (
        "import subprocess",
        "from subprocess import run",
        "import multiprocessing.pool",
        "from os import execv",
        "import os; os.fork()",
        "import os; os.execve('/bin/true', [], {})",
        "import os; os.posix_spawn('/bin/true', [], {})",
        "import os; os.system('true')",
        "import asyncio; asyncio.create_subprocess_exec('true')",
    ):
        assert LIKELY.search(line), line
        assert list(starts(line)), line
    assert not list(starts("import os; os.path.join('a'); os.getpid()"))
