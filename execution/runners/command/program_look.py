"""Says whether a program can be started: carried out inside the sandbox, where calls of it would run.

The arguments are the words of its command line. The output is a JSON list of sentences, empty where all is
well. Nothing of the program is run: scripts are only read by their interpreter where that can check syntax,
and of programs for Node the modules that they name are looked for. It knows the standard library alone.
"""

import contextlib
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator

_PYTHON = "import ast, sys; ast.parse(open(sys.argv[1], 'rb').read(), sys.argv[1])"
# Interpreters that check a file without running it, with the words for that.
CHECKS = {
    "sh": ["-n"],
    "bash": ["-n"],
    "dash": ["-n"],
    "node": ["--check"],
    "nodejs": ["--check"],
    "php": ["-l"],
    "python": ["-c", _PYTHON],
    "python3": ["-c", _PYTHON],
    "ruby": ["-c"],
}
# Of others that take the file of a script, only whether it is there is known.
OTHERS = {"perl", "deno", "bun", "tclsh", "lua", "Rscript"}
CHECK_S = 20
SAID_MOST = 300
# What a program for Node would not find; without these options it cannot be told.
NODE_LOOK = [
    "--no-warnings",
    "--experimental-vm-modules",
    "--experimental-import-meta-resolve",
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_look.mjs"),
]
_HEAD = 4096
_ELF = b"\x7fELF"


def main(words: list[str]) -> list[str]:
    """What is wrong with a command line; empty where it can be started."""
    program, *rest = words
    if not os.path.isfile(program):
        return [f"There is no program {shown(program)}."]
    if not os.access(program, os.X_OK):
        return [f"The program {shown(program)} is not executable."]
    name = os.path.basename(program)
    if name in CHECKS or name in OTHERS:
        return list(_script_problems(program, rest))
    with open(program, "rb") as file:
        head = file.read(_HEAD)
    return list(_elf_problems(program, head) if head[:4] == _ELF else _line_problems(program, head))


def shown(path: str) -> str:
    """A path as its author knows it: relative to the package."""
    return os.path.relpath(path) if path.startswith(os.getcwd() + "/") else path


def _script_problems(interpreter: str, words: list[str]) -> Iterator[str]:
    """The first word that is no option is the script; with an option before it, nobody can tell."""
    if not words or words[0].startswith("-"):
        return
    script = words[0]
    if not os.path.isfile(script):
        yield f"{os.path.basename(interpreter)} is to run {shown(script)}, and the package has no such file."
        return
    yield from _syntax_problems(interpreter, script)


def _syntax_problems(interpreter: str, script: str) -> Iterator[str]:
    check = CHECKS.get(os.path.basename(interpreter))
    if check is None:
        return
    done = _done([interpreter, *check, script])
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).decode(errors="replace").split())[-SAID_MOST:]
        yield f"{os.path.basename(interpreter)} cannot read {shown(script)}: {said}"
    elif check == CHECKS["node"]:
        yield from _module_problems(interpreter, script)


def _module_problems(node: str, script: str) -> Iterator[str]:
    """The modules that are not there, as node_look.mjs finds them; none where it cannot tell."""
    with contextlib.suppress(subprocess.TimeoutExpired, ValueError):
        yield from json.loads(_done([node, *NODE_LOOK, script]).stdout)


def _done(words: list[str]) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(words, capture_output=True, check=False, timeout=CHECK_S, stdin=subprocess.DEVNULL)


def _line_problems(program: str, head: bytes) -> Iterator[str]:
    line = head.split(b"\n", 1)[0].decode(errors="replace")
    if not line.startswith("#!"):
        yield f"{shown(program)} is neither a program of this machine nor a script that begins with #!."
        return
    words = line[2:].split()
    if line.endswith("\r"):
        yield f"The first line of {shown(program)} ends with a carriage return: save it with Unix line ends."
        return
    env = bool(words) and os.path.basename(words[0]) == "env"
    if env:
        words = [word for word in words[1:] if not word.startswith("-")]
    found = shutil.which(words[0]) if words else None
    if found is None or not (env or os.path.isfile(words[0])):
        yield f"{shown(program)} names the interpreter {words[0] if words else ''!r}, which is not there."
        return
    yield from _syntax_problems(found, program)


def _elf_problems(program: str, head: bytes) -> Iterator[str]:
    """ELF-64: the machine at 18, the program headers at 32, 54 and 56; type 3 names the loader."""
    with open("/proc/self/exe" if os.path.exists("/proc/self/exe") else sys.executable, "rb") as own:
        machine = own.read(20)[18:20]
    if head[18:20] != machine or head[4:5] != b"\x02":
        yield f"{shown(program)} is a program for another kind of processor."
        return
    (at,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    for index in range(count):
        place = at + index * size
        if place + 40 > len(head) or struct.unpack_from("<I", head, place)[0] != 3:
            continue
        (offset,), (length,) = (
            struct.unpack_from("<Q", head, place + 8),
            struct.unpack_from("<Q", head, place + 32),
        )
        loader = head[offset : offset + length].rstrip(b"\0").decode(errors="replace")
        if not os.path.exists(loader):
            yield f"{shown(program)} needs the loader {loader}, which is not there: link it statically."


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
