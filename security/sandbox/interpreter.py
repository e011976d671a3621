"""The Python that tools run on: this one's, without its packages."""

import functools
import os
import sys

from security.sandbox.launch import Mount
from security.sandbox.machine import tree


@functools.cache
def interpreter() -> str:
    """The path of the interpreter behind this process, outside of any virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


@functools.cache
def interpreter_mounts() -> tuple[Mount, ...]:
    """The folder of that interpreter, where it is none of the machine's own."""
    prefix = os.path.realpath(sys.base_prefix)
    beneath = any(prefix == path or prefix.startswith(f"{path}/") for path in tree() if path != "/")
    return () if beneath else (Mount(prefix, prefix),)
