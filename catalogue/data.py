"""Tools that turn data into data."""

import hashlib
from base64 import b64decode, b64encode
from typing import Annotated, Any, Literal, TypedDict

from blake3 import blake3

from toolhub_sdk import (
    DeclaredError,
    Example,
    Field,
    Limits,
    Package,
    StrictJSONError,
    ToolError,
    loads,
    tool,
)

PACKAGE = Package(
    name="toolhub-data",
    version="1.0.0",
    title="Data",
    description="Echo, hash and parse: small tools that turn data into data and touch nothing else.",
    license="MIT",
    author="ToolHub",
    keywords=("data", "hash", "json"),
)

_LIMITS = Limits(max_depth=63)  # the result puts one level around it


class Echoed(TypedDict):
    text: Annotated[str, Field(description="The text, unchanged.")]


class Hashed(TypedDict):
    algorithm: Annotated[Literal["blake3", "sha256"], Field(description="The algorithm that was used.")]
    hash: Annotated[
        str, Field(description="The 256-bit hash, 64 lower-case hex digits.", pattern="^[0-9a-f]{64}$")
    ]


class Parsed(TypedDict):
    data: Annotated[Any, Field(description="The parsed value, of any JSON type.")]


@tool(
    quick=True,
    category="data",
    tags=("text", "test"),
    timeout_ms=1000,
    examples=(Example({"text": "Hello, hub!"}, {"text": "Hello, hub!"}),),
)
def echo(text: Annotated[str, Field(description="The text to return.")]) -> Echoed:
    """Returns the given text unchanged, as `{"text": …}`.

    Use it to check that calls get through and come back whole. Takes any Unicode text, also an empty one.
    """
    return {"text": text}


@tool(
    quick=True,
    category="data",
    tags=("hash", "checksum", "blake3", "sha256"),
    timeout_ms=2000,
    examples=(
        Example(
            {"text": ""},
            {
                "algorithm": "blake3",
                "hash": "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
            },
        ),
        Example(
            {"base64": "YWJj", "algorithm": "sha256"},
            {
                "algorithm": "sha256",
                "hash": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            },
        ),
    ),
    errors=(
        DeclaredError("ONE_INPUT_NEEDED", suggestions=("Give either text or base64, not both.",)),
        DeclaredError(
            "INVALID_BASE64", suggestions=("Encode the bytes as RFC 4648 §4 has it, with padding.",)
        ),
    ),
)
def hash(  # noqa: A001 - the tool's name in its contract
    text: Annotated[
        str | None, Field(description="The text to hash, as UTF-8. Give this or base64, not both.")
    ] = None,
    base64: Annotated[
        str | None,
        Field(description="The bytes to hash, in base64 (RFC 4648 §4, with padding). Give this or text."),
    ] = None,
    algorithm: Annotated[
        Literal["blake3", "sha256"], Field(description="BLAKE3 with 256 bits, or SHA-256.")
    ] = "blake3",
) -> Hashed:
    """Computes the BLAKE3 or SHA-256 hash of a text or of bytes.

    Takes exactly one of `text` and `base64`; returns `{"algorithm", "hash"}` with 64 lower-case hex digits.
    The same input always gives the same hash. Not for passwords: it is neither salted nor slow.
    """
    octets = _octets(text, base64)
    hashed = blake3(octets) if algorithm == "blake3" else hashlib.sha256(octets)
    return {"algorithm": algorithm, "hash": hashed.hexdigest()}


def _octets(text: str | None, base64: str | None) -> bytes:
    if text is not None and base64 is None:
        return text.encode()
    if base64 is None or text is not None:
        raise ToolError(
            "ONE_INPUT_NEEDED",
            "Exactly one of text and base64 is needed.",
            suggestions=("Give either text or base64, not both.",),
        )
    try:
        octets = b64decode(base64, validate=True)
    except ValueError as error:
        raise _invalid_base64() from error
    if b64encode(octets).decode() != base64:  # unused bits that are not 0 (RFC 4648 §3.5)
        raise _invalid_base64()
    return octets


def _invalid_base64() -> ToolError:
    return ToolError(
        "INVALID_BASE64",
        "The value of base64 is not base64 as RFC 4648 §4 has it.",
        suggestions=("Use the alphabet with + and /, padding, and no line breaks.",),
    )


@tool(
    quick=True,
    category="data",
    tags=("json", "parse"),
    timeout_ms=2000,
    examples=(Example({"text": '{"a": [1, 2.5, null]}'}, {"data": {"a": [1, 2.5, None]}}),),
    errors=(
        DeclaredError("INVALID_JSON", suggestions=("Correct the text at the position that details gives.",)),
    ),
)
def json_parse(text: Annotated[str, Field(description="The JSON text, at most 1 MiB.")]) -> Parsed:
    """Parses a JSON text and returns its value as `{"data": …}`.

    Strict as RFC 8259 and RFC 7493 have it: duplicate names, NaN, numbers that a double cannot hold, half
    surrogate pairs and more than 63 levels are refused. The error INVALID_JSON has in `details` the `code` of
    what is wrong (such as DUPLICATE_KEY), and where known its `position` (characters from 0) and `pointer`.
    """
    try:
        return {"data": loads(text, limits=_LIMITS)}
    except StrictJSONError as error:
        place = {"position": error.position, "pointer": error.pointer}
        raise ToolError(
            "INVALID_JSON",
            f"The text is not valid JSON: {error.message}",
            suggestions=("Correct the text at the position that details gives.",),
            details={"code": error.code, **place},
        ) from error
