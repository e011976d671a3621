"""Packages that tests install: small, real, in Python and in shell."""

import json
from typing import Any

from registry.archives.zips import zip_write

GREET = '''
from typing import Annotated

from toolhub_sdk import Field, tool


@tool(category="data", side_effects="pure")
def greet(name: Annotated[str, Field(description="Whom to greet.")]) -> str:
    """Greets somebody by name."""
    return f"Hello, {name}!"
'''


def tool(name: str = "greet", **contract: Any) -> dict[str, Any]:
    """A tool's definition; `contract` changes its contract, and leaves out what it names as None.

    It promises no determinism, whose self-test starts three processes for each example.
    """
    made = {
        "category": "data",
        "sideEffects": "pure",
        "idempotent": True,
        "resourceBounds": {"timeoutMs": 10000},
        "examples": [{"arguments": {"name": "Ada"}, "result": "Hello, Ada!"}],
        "function": "greet",
        **contract,
    }
    return {
        "name": name,
        "title": name.capitalize(),
        "description": "Greets somebody by name, in one short sentence.",
        "inputSchema": {
            "type": "object",
            "properties": {"name": {"type": "string", "description": "Whom to greet."}},
            "required": ["name"],
            "additionalProperties": False,
        },
        "outputSchema": {"type": "string"},
        "_meta": {
            "io.toolhub/contract": {key: each for key, each in made.items() if each is not None},
        },
    }


def manifest(version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    """A good manifest; a change to None leaves the member out."""
    made = {
        "manifestVersion": "1",
        "name": "greetings",
        "version": version,
        "title": "Greetings",
        "description": "Greets people.",
        "license": "MIT",
        "author": {"name": "The authors"},
        "runtime": {"type": "python", "entry": "greetings"},
        "tools": [tool()],
        **changes,
    }
    return {name: value for name, value in made.items() if value is not None}


def files(version: str = "1.0.0", code: str = GREET, **changes: Any) -> dict[str, bytes]:
    """The files of a package."""
    return {
        "toolhub.json": json.dumps(manifest(version, **changes)).encode(),
        "greetings.py": code.encode(),
    }


def zipped(version: str = "1.0.0", code: str = GREET, **changes: Any) -> bytes:
    """The package as an upload."""
    return zip_write(files(version, code, **changes))
