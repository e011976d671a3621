"""The self-test finds what a contract names, for each runtime, whether or not the tool has examples."""

import shutil
from typing import Any

import pytest
import wasmtime

from registry.archives.zips import zip_write
from registry.config.services import config_change
from registry.installations import tries
from registry.installations.models import Installation
from registry.models import Package, Tool
from security.models import User
from security.sandbox import run as sandbox
from tests.installations import packages
from tests.installations.conftest import Install
from tests.sandbox.test_wasm import ECHO, module

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sandbox]
HEAD = """
import time
from toolhub_sdk import ToolContext, tool

"""
PLAIN = '@tool(category="data", side_effects="pure")\ndef greet(name: str) -> str:\n    """Greets."""\n    return name\n'
BODY = '    """Greets."""\n    return str(name)\n'

# What is changed of a good package: the code, the contract, and what is said.
PYTHON: list[tuple[str, str, dict[str, Any], str]] = [
    ("no function", PLAIN, {"function": "greeet"}, "has no function greeet. Did you mean greet?"),
    ("a function that is no tool", f"def greet(name):\n{BODY}", {}, "greetings.greet is not a tool"),
    ("a value that is no tool", "greet = 1\n", {}, "greetings.greet is not a tool"),
    (
        "a module that raises",
        PLAIN + "raise KeyError('colour')\n",
        {},
        "cannot be imported: KeyError: 'colour'",
    ),
    ("a module that is not there", "import nothing_here\n" + PLAIN, {}, "No module named 'nothing_here'"),
    ("a module that ends", PLAIN + "raise SystemExit(3)\n", {}, "cannot be imported: SystemExit: 3"),
    ("a syntax error", PLAIN + "def\n", {}, "cannot be imported: SyntaxError"),
    (
        "no such parameter",
        "@tool()\ndef greet(who: str) -> str:\n    '''Greets.'''\n    return who\n",
        {},
        "argument name",
    ),
    (
        "one parameter more",
        f"@tool()\ndef greet(name: str, town: str) -> str:\n{BODY}",
        {},
        "needs the parameter town",
    ),
    ("no schema hook", PLAIN, {"hooks": {"schema": "narrow"}}, "has no hook schema, the function narrow"),
    (
        "a schema hook without a context",
        PLAIN + "def narrow():\n    return {}\n",
        {"hooks": {"schema": "narrow"}},
        "The hook schema cannot be called: narrow: too many positional arguments",
    ),
    ("no validate hook", PLAIN, {"hooks": {"validate": "judge"}}, "has no hook validate, the function judge"),
    (
        "a validate hook that nobody asks",
        PLAIN + "def judge(name):\n    return None\n",
        {"hooks": {"validate": "judge"}},
        "the tool needs @tool(validate=judge)",
    ),
    (
        "a shutdown hook with a parameter",
        f"def bye(now):\n    return None\n\n\n@tool(shutdown=bye)\ndef greet(name: str) -> str:\n{BODY}",
        {"hooks": {"shutdown": "bye"}},
        "The hook shutdown cannot be called: bye: missing a required argument: 'now'",
    ),
]


def failed(one: Installation) -> str:
    """What a failed self-test says."""
    assert (one.status, one.step) == ("failed", "self_test"), (one.status, one.step, one.error)
    assert one.error is not None
    assert one.error["code"] == "SELF_TEST_FAILED"
    assert not Tool.objects.filter(name="greet").exists()
    return str(one.error["message"])


@pytest.mark.parametrize(
    ("code", "contract", "said"), [row[1:] for row in PYTHON], ids=[row[0] for row in PYTHON]
)
def test_a_python_tool_without_examples_has_to_have_what_it_names(
    install: Install, code: str, contract: dict[str, Any], said: str
) -> None:
    tool = packages.tool(examples=[], **contract)
    assert said in failed(install(code=HEAD + code, tools=[tool]))


def test_a_parameter_that_is_not_always_sent_needs_a_default(install: Install) -> None:
    tool = packages.tool(examples=[])
    del tool["inputSchema"]["required"]
    message = failed(install(code=HEAD + PLAIN, tools=[tool]))
    assert "give it a default, or add name to `required`" in message


def test_functions_are_found_while_settings_are_missing(install: Install) -> None:
    config = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
    tool = packages.tool(function="greeet")
    assert "has no function greeet" in failed(install(code=HEAD + PLAIN, tools=[tool], config=config))


def test_hooks_are_found_beside_examples_that_pass(install: Install) -> None:
    tool = packages.tool(hooks={"shutdown": "bye"})
    assert "has no hook shutdown, the function bye" in failed(install(tools=[tool]))


def test_a_good_tool_without_examples_is_published(install: Install) -> None:
    code = (
        HEAD
        + "def narrow(context):\n    return {'type': 'object'}\n\n\n"
        + "def judge(name):\n    return None\n\n\ndef bye():\n    return None\n\n\n"
        + "@tool(validate=judge, schema=narrow, shutdown=bye)\n"
        + f"def greet(name: str, context: ToolContext, town: str = '') -> str:\n{BODY}"
    )
    hooks = {"schema": "narrow", "validate": "judge", "shutdown": "bye"}
    one = install(code=code, tools=[packages.tool(examples=[], hooks=hooks)])
    assert one.status == "published", one.error


# --- programs ---

SHELL = b"#!/bin/sh\ncat >/dev/null\necho '\"Hello, Ada!\"'\n"
COMMANDS: list[tuple[str, Any, dict[str, bytes], str]] = [
    ("an interpreter that is not there", ["nosuchlang", "x.ns"], {"x.ns": b""}, "no program 'nosuchlang'"),
    ("no first line", "tool.sh", {"tool.sh": b"echo 1\n"}, "neither a program of this machine nor a script"),
    (
        "no such interpreter",
        "tool.sh",
        {"tool.sh": b"#!/usr/bin/nosuch\n"},
        "names the interpreter '/usr/bin/nosuch'",
    ),
    ("none by env", "tool.sh", {"tool.sh": b"#!/usr/bin/env nosuch\n"}, "names the interpreter 'nosuch'"),
    ("line ends of Windows", "tool.sh", {"tool.sh": b"#!/bin/sh\r\ntrue\r\n"}, "ends with a carriage return"),
    ("a syntax error", "tool.sh", {"tool.sh": b"#!/bin/sh\nif true\n"}, "sh cannot read tool.sh"),
    (
        "no script",
        ["python3", "other.py"],
        {"tool.py": b""},
        "is to run other.py, and the package has no such file",
    ),
    (
        "a syntax error in Python",
        ["python3", "tool.py"],
        {"tool.py": b"def\n"},
        "python3 cannot read tool.py",
    ),
    ("a syntax error for Node", ["node", "tool.js"], {"tool.js": b"let = ;\n"}, "node cannot read tool.js"),
    ("another processor", "tool", {"tool": b"\x7fELF\x02" + b"\0" * 80}, "for another kind of processor"),
]


@pytest.mark.parametrize(
    ("entry", "files", "said"), [row[1:] for row in COMMANDS], ids=[row[0] for row in COMMANDS]
)
def test_a_command_without_examples_has_to_be_there(
    install: Install, entry: Any, files: dict[str, bytes], said: str
) -> None:
    if (
        entry[0] in {"node", "python3"}
        and shutil.which(entry[0], path="/usr/local/bin:/usr/bin:/bin") is None
    ):
        pytest.skip(f"this machine has no {entry[0]}")
    runtime = {"type": "command", "entry": entry}
    made = packages.files(runtime=runtime, tools=[packages.tool(examples=[])])
    made.pop("greetings.py")
    assert said in failed(install(zip_write({**made, **files})))


NODE = shutil.which("node", path="/usr/local/bin:/usr/bin:/bin")
# The program, other files of the package, and what is said of it.
MISSING: list[tuple[str, str, str, dict[str, bytes], str]] = [
    (
        "an import",
        "tool.mjs",
        'import pad from "left-pad";',
        {},
        'imports "left-pad", which is not installed',
    ),
    ("a require", "tool.js", 'const pad = require("left-pad").default', {}, 'tool.js requires "left-pad"'),
    ("a bare require", "tool.js", "'use strict'\nrequire('left-pad')", {}, 'tool.js requires "left-pad"'),
    ("the second of a line", "tool.cjs", "var a = 1, b = require('b-pad')", {}, 'requires "b-pad"'),
    (
        "a file",
        "tool.js",
        'require("./lib/none")',
        {},
        'requires "./lib/none", and the package has no such file',
    ),
    (
        "a module of a module",
        "tool.mjs",
        'export * from "./lib/a.mjs";',
        {"lib/a.mjs": b'import "./b.cjs"', "lib/b.cjs": b'module.exports = require("left-pad")'},
        'lib/b.cjs requires "left-pad"',
    ),
    (
        "a syntax error within",
        "tool.js",
        'require("./a")',
        {"a.js": b"let = ;"},
        "node cannot read a.js: Syntax",
    ),
    ("a module of Node", "tool.mjs", 'import "node:nothing";', {}, "node:nothing"),
    (
        "by package.json",
        "tool.js",
        'import pad from "left-pad";',
        {"package.json": b'{"type": "module"}'},
        'imports "left-pad"',
    ),
    ("what Node takes for a module", "tool.js", 'import pad from "left-pad";', {}, 'imports "left-pad"'),
]


def program(install: Install, file: str, code: str, files: dict[str, bytes]) -> Installation:
    runtime = {"type": "command", "entry": ["node", file]}
    made = packages.files(runtime=runtime, tools=[packages.tool(examples=[])])
    made.pop("greetings.py")
    return install(zip_write({**made, file: code.encode(), **files}))


@pytest.mark.skipif(NODE is None, reason="this machine has no node")
def test_modules_are_looked_for_outside_of_a_sandbox_too(install: Install) -> None:
    runtime = {"type": "command", "entry": "./tool"}
    made = packages.files(runtime=runtime, tools=[packages.tool(examples=[], isolation="basic")])
    made.pop("greetings.py")
    code = b"#!/usr/bin/env node\nconst own = require('./own'), pad = require('left-pad')\n"
    one = install(zip_write({**made, "tool": code, "own.js": b""}))
    assert 'tool requires "left-pad", which is not installed' in failed(one)


@pytest.mark.skipif(NODE is None, reason="this machine has no node")
@pytest.mark.parametrize(
    ("file", "code", "files", "said"), [row[1:] for row in MISSING], ids=[row[0] for row in MISSING]
)
def test_a_program_for_node_has_to_have_the_modules_that_it_names(
    install: Install, file: str, code: str, files: dict[str, bytes], said: str
) -> None:
    assert said in failed(program(install, file, code, files))


# What may be missing, or is only text: nothing here fails when the program starts.
SPARED = """
const fs = require("fs"), { join } = require("node:path");
const own = require("./lib/own"), data = require("./data.json")
let addon = null
try { addon = require("optional") } catch {}
if (process.env.NOTHING) require("conditional-1")
if (process.env.NOTHING)
  require("conditional-2")
else
  fs.existsSync("x") && require("conditional-3")
const lazy = () => require("lazy-1"), later = process.env.NOTHING && require("lazy-2")
function load(name) { return require("lazy-3") }
class Loader { load() { const a = 6 / 2; return require("lazy-4") / a } }
const text = 'require("text-1")', whole = `require("text-2") ${[1].map((n) => `${n} require("text-3")`)}`
const pattern = /const x = require("text-4")/g
// require("text-5")
/*
require("text-6")
*/
own.run(process.env.NOTHING || "require('text-7')")
"""


@pytest.mark.skipif(NODE is None, reason="this machine has no node")
@pytest.mark.parametrize("last", ["", "return\nrequire('never')"])
def test_a_program_for_node_is_not_refused_for_what_it_can_do_without(install: Install, last: str) -> None:
    files = {
        "lib/own.js": b"exports.run = () => import('lazy-5');",
        "data.json": b'{"a": 1}',
    }
    one = program(install, "tool.js", SPARED + last, files)
    assert one.status == "published", one.error


@pytest.mark.parametrize("entry", ["tool.sh", ["sh", "tool.sh"], ["sh", "-c", "echo 1"]])
def test_a_good_command_without_examples_is_published(install: Install, entry: Any) -> None:
    runtime = {"type": "command", "entry": entry}
    made = packages.files(runtime=runtime, tools=[packages.tool(examples=[])])
    one = install(zip_write({**made, "tool.sh": SHELL}))
    assert one.status == "published", one.error


WASM = [
    ("no start", '(module (memory (export "memory") 1))', "exports no function _start"),
    (
        "a start that takes something",
        '(module (func (export "_start") (param i32)))',
        "exports no function _start",
    ),
    (
        "an import of nobody",
        '(module (import "env" "magic" (func)) (func (export "_start")))',
        "imports env magic, which WASI preview 1 does not have",
    ),
]


@pytest.mark.parametrize(("text", "said"), [row[1:] for row in WASM], ids=[row[0] for row in WASM])
def test_a_module_has_to_export_and_import_what_a_command_does(
    install: Install, text: str, said: str
) -> None:
    runtime = {"type": "wasm", "entry": "tool.wasm"}
    made = packages.files(runtime=runtime, tools=[packages.tool(examples=[])])
    one = install(zip_write({**made, "tool.wasm": bytes(wasmtime.wat2wasm(text))}))
    assert (one.status, one.step) == ("failed", "prepare")
    assert one.error is not None
    assert said in one.error["message"]


def test_a_good_module_without_examples_is_published(install: Install) -> None:
    runtime = {"type": "wasm", "entry": "tool.wasm"}
    made = packages.files(runtime=runtime, tools=[packages.tool(examples=[])])
    one = install(zip_write({**made, "tool.wasm": module(ECHO)}))
    assert one.status == "published", one.error


# --- promises ---

LIARS = [
    ("a set that is joined", "deterministic", "' '.join(set(name.split()))"),
    ("a hash", "deterministic", "str(hash(name))"),
    ("chance", "deterministic", "str(__import__('random').random())"),
    ("the time", "deterministic", "str(time.time_ns())"),
    ("a process id", "deterministic", "str(__import__('os').urandom(4))"),
    ("a set, bounded", "bounded", "' '.join(set(name.split()))"),
    ("chance of its own, bounded", "bounded", "str(__import__('random').random())"),
]


@pytest.mark.parametrize(("determinism", "result"), [row[1:] for row in LIARS], ids=[row[0] for row in LIARS])
def test_a_tool_that_does_not_repeat_itself_is_found(install: Install, determinism: str, result: str) -> None:
    code = f'{HEAD}@tool()\ndef greet(name: str) -> str:\n    """Greets."""\n    return {result}\n'
    words = "amber birch cedar dahlia elder"
    tool = packages.tool(determinism=determinism, examples=[{"arguments": {"name": words}}])
    message = failed(install(code=code, tools=[tool]))
    assert f"another process gave another result, so that it is not {determinism}" in message


# Sets of these keep their order with the first three seeds.
PAIRS = ["ada bob", "day night", "name value", "one two"]


@pytest.mark.parametrize("words", PAIRS)
def test_a_set_of_two_words_is_found(install: Install, words: str) -> None:
    code = f'{HEAD}@tool()\ndef greet(name: str) -> str:\n    """Greets."""\n    return " ".join(set(name.split()))\n'
    examples = [{"arguments": {"name": "a"}}, {"arguments": {"name": words}}]
    message = failed(
        install(code=code, tools=[packages.tool(determinism="deterministic", examples=examples)])
    )
    assert "greet, example 2: another process gave another result" in message


SHEBANG = b"#!/usr/bin/env python3\nimport json, sys\nname = json.load(sys.stdin)['arguments']['name']\n"


@pytest.mark.parametrize("isolation", ["basic", "strict"])
def test_a_set_of_two_words_is_found_in_a_program(install: Install, isolation: str) -> None:
    tool = packages.tool(
        isolation=isolation, determinism="deterministic", examples=[{"arguments": {"name": PAIRS[0]}}]
    )
    made = packages.files(runtime={"type": "command", "entry": "tool.py"}, tools=[tool])
    made.pop("greetings.py")
    program = SHEBANG + b"print(json.dumps(' '.join(set(name.split()))))\n"
    message = failed(install(zip_write({**made, "tool.py": program})))
    assert "another process gave another result" in message


# Honest tools that see where they work, and what others left there.
HONEST = [
    ("a file of its own", "open('f', 'x').write(name) and open('f').read()"),
    ("where it works", "str(len(__import__('os').listdir('.')))"),
    ("its secrets and settings", "context.secrets['key'][:1] + context.config['unit'] + name"),
]


@pytest.mark.parametrize("result", [row[1] for row in HONEST], ids=[row[0] for row in HONEST])
def test_an_honest_tool_is_not_blamed_for_what_the_tries_share(
    install: Install, admin: User, result: str
) -> None:
    code = (
        f"{HEAD}KINDS = set(('a', 'b'))\n\n\n@tool()\ndef greet(name: str, context: ToolContext) -> str:\n"
        f'    """Greets."""\n    return {result}\n'
    )
    config = {
        "type": "object",
        "properties": {"key": {"type": "string", "secret": True}, "unit": {"type": "string", "default": "C"}},
        "required": ["key"],
    }
    one = install(code=code, config=config, tools=[packages.tool(examples=[])])
    assert one.status == "published", one.error
    config_change(by=admin, package=Package.objects.get(), changes={"key": "k-12345678"})
    tool = packages.tool(determinism="deterministic", sideEffects="impure", idempotent=True)
    tool["_meta"]["io.toolhub/contract"]["examples"] = [{"arguments": {"name": "Ada"}}]
    one = install(code=code, config=config, tools=[tool], version="1.1.0")
    assert one.status == "published", (one.error, lines(one))


def test_the_context_s_time_and_chance_are_no_lie_of_a_bounded_tool(install: Install) -> None:
    code = (
        f"{HEAD}@tool()\ndef greet(name: str, context: ToolContext) -> str:\n"
        '    """Greets."""\n    return f"{context.clock.now()} {context.random.random()} {context.run_id}"\n'
    )
    tool = packages.tool(determinism="bounded", examples=[{"arguments": {"name": "Ada"}}])
    assert install(code=code, tools=[tool]).status == "published"


def test_a_pure_tool_that_writes_memory_is_refused(install: Install) -> None:
    code = (
        f"{HEAD}@tool()\ndef greet(name: str, context: ToolContext) -> str:\n"
        '    """Greets."""\n    context.memory.write("last", name, "short-term")\n    return name\n'
    )
    tool = packages.tool(examples=[{"arguments": {"name": "Ada"}}], memory={"short-term": ["last"]})
    assert "declared pure, and it wrote memory" in failed(install(code=code, tools=[tool]))


# --- the machine ---


def lines(one: Installation) -> str:
    return "\n".join(one.lines.values_list("text", flat=True))


def test_a_start_that_failed_is_tried_again_and_told(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tries, "WAIT_S", 0)
    left, begun = [1, 2], sandbox._finished

    def finished(hearing: Any, launch: Any) -> Any:
        if left and "greetings" in launch.argv:
            left.pop()
            hearing.report = {"how": "refused", "why": "no memory"}
        return begun(hearing, launch)

    monkeypatch.setattr(sandbox, "_finished", finished)
    one = install()
    assert one.status == "published", one.error
    assert "example 1: try 1 of 3 was ended by the machine" in lines(one)
    assert "example 1: try 2 of 3 was ended by the machine" in lines(one)


def test_a_machine_that_starts_nothing_is_blamed_and_not_the_tool(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tries, "WAIT_S", 0)
    begun = sandbox._finished

    def finished(hearing: Any, launch: Any) -> Any:
        if "greetings" in launch.argv:
            hearing.report = {"how": "refused", "why": "no memory"}
        return begun(hearing, launch)

    monkeypatch.setattr(sandbox, "_finished", finished)
    one = install()
    assert (one.status, one.step) == ("failed", "self_test")
    assert one.error is not None
    assert one.error["code"] == "SANDBOX_UNAVAILABLE"
    assert "That says nothing about the tool." in one.error["message"]


def test_a_slow_start_does_not_count_as_the_tools_own_time(install: Install) -> None:
    code = f"{HEAD}time.sleep(0.4)\n{packages.GREET}"
    tool = packages.tool(resourceBounds={"timeoutMs": 100}, determinism="deterministic")
    one = install(code=code, tools=[tool])
    assert one.status == "published", one.error
    assert "Try 2" not in lines(one)
