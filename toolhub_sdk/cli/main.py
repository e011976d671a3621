"""Reads the command line and hands it to the command that it names."""

import argparse
import contextlib
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from toolhub_sdk.runtimes.folders import RuntimesError
from toolhub_sdk.runtimes.registry import runtimes
from toolhub_sdk.stop import StopError
from toolhub_sdk.visible_text import VisibleStream

# Modules that an extra brings: what the command does with each, whose package it is, and the extra.
EXTRA = {
    "jsonschema_rs": ("checks JSON Schemas", "jsonschema-rs", "check"),
    "cel": ("compiles expressions", "common-expression-language", "check"),
    "packaging": ("reads requirements", "packaging", "check"),
}


def parser() -> argparse.ArgumentParser:
    """The command line: each command's module has `run(options) -> int`."""
    made = argparse.ArgumentParser("toolhub_sdk", description="Makes packages of tools for ToolHub.")
    commands = made.add_subparsers(dest="command", required=True)
    new = commands.add_parser("new", help="make a package to begin with")
    new.add_argument("folder", type=Path, help="a folder that is not there yet; its name is the package's")
    kinds = [name for name, each in runtimes().items() if each.template]
    new.add_argument("--kind", choices=kinds, default=kinds[0])
    for name, words in (
        ("manifest", "write toolhub.json from a Python module's tools"),
        ("check", "make all checks that a hub makes, and give advice"),
        ("test", "run the examples of the tools here"),
        ("pack", "write the package as a .zip, always the same bytes"),
    ):
        command = commands.add_parser(name, help=words)
        command.add_argument("folder", type=Path, nargs="?", default=Path(), help="the package's folder")
    commands.choices["check"].add_argument("--strict", action="store_true", help="fail on warnings, too")
    test = commands.choices["test"]
    test.add_argument("--tool", help="only this tool")
    test.add_argument("--timeout", type=float, help="seconds for each call, instead of the tool's own bound")
    commands.choices["pack"].add_argument("--output", type=Path, help="the .zip; dist/NAME-VERSION.zip else")
    return made


def main(arguments: Sequence[str]) -> int:
    """The exit code: 0 when all is well, 1 when something is wrong with the package, 2 for a bad command."""
    try:
        options = parser().parse_args(arguments)
    except RuntimesError as error:
        print(error, file=sys.stderr)
        return 2
    out, err = VisibleStream(sys.stdout), VisibleStream(sys.stderr)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    try:
        module = importlib.import_module(f"toolhub_sdk.cli.command_{options.command}")
        done: int = module.run(options)
    except ModuleNotFoundError as error:
        extras = EXTRA | {
            module: extra for each in runtimes().values() for module, extra in each.extras.items()
        }
        if error.name not in extras:
            raise
        act, name, extra = extras[error.name]
        remedy = f"Install the extra: pip install 'toolhub-sdk[{extra}]'"
        print(f"This command {act} and needs the package {name}. {remedy}", file=sys.stderr)
        return 2
    except StopError as stop:
        print(stop, file=sys.stderr)
        return stop.code
    return done
