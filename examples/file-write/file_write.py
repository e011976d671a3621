"""Writing files, as an example of a tool with effects, own errors and a named retry policy."""

import base64
import binascii
from pathlib import Path
from typing import Annotated, Literal, TypedDict

from toolhub_sdk import DeclaredError, Example, Field, Package, ToolError, tool

PACKAGE = Package(
    name="file-write",
    version="1.0.0",
    title="File write",
    description="Writes text and bytes to files.",
    license="MIT",
    author="ToolHub",
    keywords=("file", "write"),
)
_EXISTS = ("Set overwrite to true.", "Choose another path.")


class Written(TypedDict):
    path: Annotated[str, Field(description="The path, as it was given.")]
    bytesWritten: Annotated[int, Field(description="The size of the file in bytes.", minimum=0)]


def content_fits(content: str, encoding: str) -> dict[str, str] | None:
    """What the encoding asks of the content."""
    try:
        _bytes(content, encoding)
    except (UnicodeEncodeError, binascii.Error):
        return {"content": f"The content is not {encoding}."}
    return None


def _bytes(content: str, encoding: str) -> bytes:
    if encoding == "base64":
        return base64.b64decode(content, validate=True)
    return content.encode(encoding)


@tool(
    category="file",
    tags=("file",),
    capabilities=("file:write",),
    side_effects="impure",
    idempotent=False,
    determinism="non_deterministic",
    timeout_ms=10_000,
    retry="QUICK",
    validate=content_fits,
    preconditions=(
        {"type": "permission", "description": "Files may be written.", "permission": "file:write"},
    ),
    effects=(
        {
            "type": "notification",
            "description": "Tells the session which file changed.",
            "event": "file:changed",
            "expression": '{"path": result.path, "action": "write"}',
        },
    ),
    examples=(
        Example(
            {"path": "/dev/null", "content": "Hello", "overwrite": True},
            {"path": "/dev/null", "bytesWritten": 5},
        ),
    ),
    errors=(
        DeclaredError("FILE_EXISTS", suggestions=_EXISTS, description="There is a file already."),
        DeclaredError(
            "WRITE_FAILED",
            recoverable=False,
            suggestions=("Choose a folder that the tool may write.",),
            description="The file could not be written.",
            type="resource",
        ),
    ),
)
def file_write(
    path: Annotated[str, Field(description="The file to write to.", min_length=1, max_length=1000)],
    content: Annotated[str, Field(description="What is to stand in it.")],
    encoding: Annotated[
        Literal["utf-8", "ascii", "base64"], Field(description="How the content becomes bytes.")
    ] = "utf-8",
    overwrite: Annotated[bool, Field(description="Whether a file that exists is replaced.")] = False,
) -> Written:
    """Writes a text, or bytes in base64, to a file and returns how many bytes that were.

    A file that exists is left alone and is the error FILE_EXISTS, unless overwrite is true. A file that
    cannot be written is the error WRITE_FAILED.
    """
    made = _bytes(content, encoding)
    try:
        with Path(path).open("wb" if overwrite else "xb") as out:
            out.write(made)
    except FileExistsError as error:
        raise ToolError("FILE_EXISTS", f"There is a file {path} already.") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its path is none"
        raise ToolError("WRITE_FAILED", f"{path} was not written: {why}.") from error
    return {"path": path, "bytesWritten": len(made)}
