"""`@tool`, `call` and the manifest made of them."""

import dataclasses
import enum
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, TypedDict

import pytest

from toolhub_sdk import (
    DeclaredError,
    Example,
    Field,
    Package,
    Rule,
    ToolContext,
    ToolError,
    call,
    manifest_of,
    spec_of,
    tool,
)
from toolhub_sdk.checks.form import published_schema
from toolhub_sdk.checks.manifest import manifest_problems

ROOT = Path(__file__).parents[2]


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


@dataclasses.dataclass
class Order:
    item: str
    size: Size
    when: datetime
    count: int = 1


class Box(TypedDict):
    orders: list[Order]


@tool()
def count_words(text: Annotated[str, Field(description="The text.")], ctx: ToolContext) -> int:
    """Counts the words
    of a text.

    Words are what
    white space parts.

    - not letters
    - not lines
    """
    ctx.log("counting", length=len(text))
    return len(text.split())


def test_the_function_stays_callable_and_carries_its_contract() -> None:
    context = ToolContext()
    assert count_words("a b", context) == 2
    spec = spec_of(count_words)
    assert spec is not None
    assert spec.name == spec.function == "count_words"
    assert spec.title == "Count words"
    assert spec.context_parameter == "ctx"
    assert list(spec.input_schema["properties"]) == ["text"]
    assert spec_of(len) is None


def test_the_description_is_the_docstring_with_its_paragraphs_unwrapped() -> None:
    spec = spec_of(count_words)
    assert spec is not None
    assert spec.description == (
        "Counts the words of a text.\n\nWords are what white space parts.\n\n- not letters\n- not lines"
    )


def test_the_contract_cannot_be_changed() -> None:
    spec = spec_of(count_words)
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.name = "other"  # type: ignore[union-attr, misc]


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "1st"},
        {"name": "with space"},
        {"name": "a" * 65},
        {"category": "finance"},
        {"side_effects": "none"},
        {"determinism": "maybe"},
        {"isolation": "total"},
        {"timeout_ms": 0},
        {"max_output_bytes": 0},
        {"max_memory_bytes": -1},
    ],
)
def test_a_malformed_contract_is_refused_where_it_is_written(changes: dict[str, Any]) -> None:
    def documented() -> None:
        """Does nothing."""

    assert spec_of(tool()(documented)) is not None
    with pytest.raises(ValueError, match=r"\w"):
        tool(**changes)(documented)


def test_a_tool_without_a_docstring_is_refused() -> None:
    def silent() -> None: ...

    with pytest.raises(ValueError, match="docstring"):
        tool()(silent)


def test_the_decorator_without_parentheses_is_refused() -> None:
    with pytest.raises(TypeError, match="parentheses"):
        tool(len)  # type: ignore[arg-type]


def test_arguments_become_what_the_annotations_promise() -> None:
    seen: dict[str, Any] = {}

    @tool()
    def order(
        box: Box,
        fallback: Order | None,
        ids: set[uuid.UUID],
        price: Decimal,
        raw: bytes,
        many: int,
        pair: tuple[Size, int],
    ) -> None:
        """Keeps what it gets."""
        seen.update(box=box, fallback=fallback, ids=ids, price=price, raw=raw, many=many, pair=pair)

    one = {"item": "tea", "size": "l", "when": "2026-01-02T03:04:05Z"}
    arguments = {
        "box": {"orders": [one]},
        "fallback": None,
        "ids": ["00000000-0000-0000-0000-000000000001"],
        "price": "1.10",
        "raw": {"base64": "AAE="},
        "many": 5.0,
        "pair": ["s", 2],
    }
    assert call(order, arguments, ToolContext()) is None
    assert seen == {
        "box": {"orders": [Order("tea", Size.LARGE, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), 1)]},
        "fallback": None,
        "ids": {uuid.UUID(int=1)},
        "price": Decimal("1.10"),
        "raw": b"\x00\x01",
        "many": 5,
        "pair": (Size.SMALL, 2),
    }
    assert type(seen["many"]) is int
    assert arguments["box"] == {"orders": [one]}


def test_an_argument_that_cannot_be_converted_is_the_callers_error() -> None:
    @tool()
    def wait_until(moment: datetime) -> None:
        """Waits."""

    with pytest.raises(ToolError) as refused:
        call(wait_until, {"moment": "2026-02-30T00:00:00Z"}, ToolContext())
    assert refused.value.code == "INVALID_ARGUMENTS"


def test_a_union_that_json_cannot_tell_apart_is_refused() -> None:
    def ambiguous(moment: datetime | str) -> None:
        """Takes one or the other."""

    with pytest.raises(TypeError, match="told apart"):
        tool()(ambiguous)


def test_the_result_is_normalised_and_a_wrong_one_refused() -> None:
    @tool()
    def result(kind: str) -> Any:
        """Returns something."""
        return {"set": {2, 1}} if kind == "good" else {"bad": float("nan")}

    assert call(result, {"kind": "good"}, ToolContext()) == {"set": [1, 2]}
    with pytest.raises(ToolError, match="/bad"):
        call(result, {"kind": "bad"}, ToolContext())
    with pytest.raises(TypeError, match="no tool"):
        call(len, {}, ToolContext())


PACKAGE = Package(
    name="words",
    version="1.2.3-rc.1+build.5",
    title="Words",
    description="Counts words.",
    license="MIT",
    author="Somebody",
    keywords=["text"],
)


def module_with(**members: object) -> ModuleType:
    module = ModuleType("words")
    vars(module).update(members)
    return module


def fetch(url: str) -> str:
    """Fetches a page."""
    return url


def test_the_manifest_has_the_contracts_shape() -> None:
    fetch.__module__ = "words"
    tool(
        "fetch_page",
        title="Fetch",
        category="network",
        capabilities=["network:api.example.org"],
        side_effects="impure",
        idempotent=False,
        determinism="non_deterministic",
        timeout_ms=500,
        max_output_bytes=1000,
        tags=["web"],
        examples=[Example({"url": "a"}, "a"), Example({"url": "b"})],
        errors=[DeclaredError("GONE", recoverable=False, suggestions=["Look elsewhere."])],
        isolation="paranoid",
        network=["api.example.org:443"],
    )(fetch)
    dialect = "https://json-schema.org/draft/2020-12/schema"
    assert manifest_of(module_with(fetch=fetch, foreign=count_words), PACKAGE, runtime="python") == {
        "manifestVersion": "1",
        "name": "words",
        "version": "1.2.3-rc.1+build.5",
        "title": "Words",
        "description": "Counts words.",
        "author": {"name": "Somebody"},
        "license": "MIT",
        "keywords": ["text"],
        "runtime": {"type": "python", "entry": "words"},
        "tools": [
            {
                "name": "fetch_page",
                "title": "Fetch",
                "description": "Fetches a page.",
                "inputSchema": {
                    "$schema": dialect,
                    "type": "object",
                    "properties": {"url": {"type": "string"}},
                    "required": ["url"],
                    "additionalProperties": False,
                },
                "outputSchema": {"$schema": dialect, "type": "string"},
                "annotations": {"readOnlyHint": False, "idempotentHint": False, "openWorldHint": True},
                "_meta": {
                    "io.toolhub/contract": {
                        "category": "network",
                        "tags": ["web"],
                        "requiredCapabilities": ["network:api.example.org"],
                        "sideEffects": "impure",
                        "idempotent": False,
                        "determinism": "non_deterministic",
                        "resourceBounds": {"timeoutMs": 500, "maxOutputBytes": 1000},
                        "isolation": "paranoid",
                        "network": {"allow": ["api.example.org:443"]},
                        "errors": [
                            {"code": "GONE", "recoverable": False, "suggestions": ["Look elsewhere."]}
                        ],
                        "examples": [{"arguments": {"url": "a"}, "result": "a"}, {"arguments": {"url": "b"}}],
                        "function": "fetch",
                    }
                },
            }
        ],
    }


def judge(url: str) -> str | None:
    """Judges an address."""
    return None


def test_all_that_a_contract_can_say_can_be_said_in_python() -> None:
    def whole(url: str) -> str:
        """Fetches a page."""
        return url

    whole.__module__ = judge.__module__ = "words"
    tool(
        side_effects="impure",
        memory={"working": ["k"]},
        preconditions=[{"type": "permission", "description": "A.", "permission": "network:read"}],
        effects=[{"type": "notification", "description": "B.", "event": "fetched"}],
        retry="QUICK",
        validators=[Rule("size(arguments.url) > 1", "Too short.")],
        validate=judge,
        requires_approval=True,
        sanitise=True,
        content_checks="block",
        field_kinds={"/url": "url"},
        max_memory_bytes=1 << 20,
        max_disk_bytes=1 << 20,
        max_cpu_ms=100,
        max_concurrency=2,
        filesystem={"read": ["reports"]},
        network=["api.example.org:443"],
        environment={"TZ": "UTC"},
        resource_requirements={"memoryBytes": 1 << 20},
        recovery={"type": "abort"},
        cache_seconds=60,
        documentation="whole.md",
        examples=[Example({"url": "ab"}, "ab", "The shortest.")],
    )(whole)
    package = dataclasses.replace(
        PACKAGE,
        requires="requirements.txt",
        config={"type": "object", "properties": {"key": {"type": "string", "secret": True}}},
        config_check={"url": "https://api.example.org/me", "headers": {"Authorization": "Bearer {key}"}},
        tools={"geo": "^1.2"},
        homepage="https://example.org/",
        icon="icon.svg",
    )
    manifest = manifest_of(module_with(whole=whole, judge=judge), package, runtime="python")
    assert manifest_problems(manifest) == []
    schema = published_schema()
    assert set(schema["properties"]) - set(manifest) == {"$schema"}
    parts = schema["$defs"]["contract"]["properties"]
    contract = manifest["tools"][0]["_meta"]["io.toolhub/contract"]
    assert set(parts) - set(contract) == {"http"}, "a request on the web needs no Python"
    assert set(parts["resourceBounds"]["properties"]) - set(contract["resourceBounds"]) == {"maxFuel"}
    assert set(parts["examples"]["items"]["properties"]) == set(contract["examples"][0])


def test_a_module_without_tools_or_with_two_of_one_name_is_refused() -> None:
    def one() -> None:
        """Does nothing."""

    def two() -> None:
        """Does nothing."""

    one.__module__ = two.__module__ = "words"
    with pytest.raises(ValueError, match="no tools"):
        manifest_of(module_with(foreign=count_words), PACKAGE, runtime="python")
    with pytest.raises(ValueError, match="two tools of one name: same"):
        manifest_of(module_with(one=tool("same")(one), two=tool("same")(two)), PACKAGE, runtime="python")


@pytest.mark.parametrize(
    "version", ["1.0", "01.0.0", "1.0.0-", "1.0.0-01", "v1.0.0", "1.0.0 ", "^1.0.0", "1.0.0+"]
)
def test_only_an_exact_semantic_version_is_accepted(version: str) -> None:
    with pytest.raises(ValueError, match="semver"):
        dataclasses.replace(PACKAGE, version=version)


@pytest.mark.parametrize("name", ["Words", "1words", "wo_rds", "", "a" * 65, "words\n"])
def test_only_a_plain_package_name_is_accepted(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        dataclasses.replace(PACKAGE, name=name)


def test_the_sdk_needs_the_standard_library_only() -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import toolhub_sdk;"
        "roots = {name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names;"
        "print(sorted(roots - {'__main__', '__mp_main__'}))"
    )
    command = [sys.executable, "-I", "-S", "-c", script, str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['toolhub_sdk']"
