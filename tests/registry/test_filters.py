"""The filters of lists of tools, over REST."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import Q
from django.test import Client

from core.errors import InvalidRequest
from core.keyset import cursor_make
from registry.api import CURSOR
from registry.models import ToolVersion
from registry.patterns import pattern_compile
from registry.types import TYPES, has_type, type_of

Listing = Callable[..., Any]


@pytest.fixture
def listing(client: Client, token_text: str, assign: Callable[[str], None]) -> Listing:
    """GET tools with all three built-in packages assigned: `listing("tags=text&tags=test")`."""
    for package in ("toolhub-calculation", "toolhub-data", "toolhub-system"):
        assign(package)

    def get(query: str) -> Any:
        return client.get(f"/api/v1/tools?{query}", HTTP_AUTHORIZATION=f"Bearer {token_text}")

    return get


# By hand, from the catalogue: calculate, echo, hash, json_parse (data), current_time (system).
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["calculate", "current_time", "echo", "hash", "json_parse"]),
        ("type=builtin", ["calculate", "current_time", "echo", "hash", "json_parse"]),
        ("type=external", []),
        ("category=system", ["current_time"]),
        ("category=system&category=data", ["calculate", "current_time", "echo", "hash", "json_parse"]),
        ("category=file", []),
        ("tags=text", ["echo"]),
        ("tags=text&tags=test", ["echo"]),
        ("tags=text&tags=hash", []),
        ("tags=tex", []),
        ("tags=TEXT", []),
        ("capabilities=network", []),
        ("min_version=1.0.0", ["calculate", "current_time", "echo", "hash", "json_parse"]),
        ("min_version=1.0.1-alpha", []),
        ("max_version=1.0.0-rc.1", []),
        ("max_version=1.0.0&min_version=1.0.0&tags=hash", ["hash"]),
        ("pattern=^ECHO$", ["echo"]),
        ("pattern=json", ["json_parse"]),
        ("pattern=BLAKE3|arithmetic", ["hash"]),
        ("pattern=time&category=data", []),
    ],
)
def test_a_list_is_narrowed(listing: Listing, query: str, names: list[str]) -> None:
    answer = listing(query)
    assert answer.status_code == 200
    assert [tool["name"] for tool in answer.json()["tools"]] == names
    assert (answer.json()["reason"] is None) == bool(names)


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("type=wasm", "/type/0"),
        ("category=data&category=pets", "/category/1"),
        ("tags=", "/tags/0"),
        ("min_version=1.0", "/min_version"),
        ("max_version=one", "/max_version"),
        ("pattern=(", "/pattern"),
        ("pattern=(?=a)", "/pattern"),
        ("pattern=(a)%5C1", "/pattern"),
        ("pattern=" + "a" * 201, "/pattern"),
        ("pattern=a&pattern=b", "/pattern"),
    ],
)
def test_a_filter_that_does_not_fit_is_422_at_its_place(listing: Listing, query: str, pointer: str) -> None:
    answer = listing(query)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "INVALID_REQUEST"
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_the_filter_goes_on_after_a_page(listing: Listing) -> None:
    names = [
        tool["name"] for tool in listing(f"category=data&after={cursor_make(CURSOR, 'echo')}").json()["tools"]
    ]
    assert names == ["hash", "json_parse"]


@pytest.mark.parametrize("text", ["(a+)+$", "(a|a)*$", "(.*a){20}$"])
def test_a_pattern_that_makes_other_engines_backtrack_answers_at_once(text: str) -> None:
    begun = time.perf_counter()
    pattern_compile(text).matches("a" * 100_000 + "b")
    assert time.perf_counter() - begun < 0.5


def test_a_pattern_that_grows_when_compiled_is_refused_at_once() -> None:
    begun = time.perf_counter()
    with pytest.raises(InvalidRequest):
        pattern_compile(r"(\w{80}){80}")
    assert time.perf_counter() - begun < 0.5


@pytest.mark.parametrize(
    ("runner", "name"),
    [
        ("builtin", "builtin"),
        ("python", "builtin"),
        ("command", "builtin"),
        ("wasm", "builtin"),
        ("http", "external"),
        ("goneaway", "builtin"),
    ],
)
def test_every_runtime_makes_one_of_the_types(runner: str, name: str, assign: Callable[[str], None]) -> None:
    assert type_of(runner) == name
    ToolVersion.objects.filter(tool__name="echo").update(runner=runner)
    echo = ToolVersion.objects.filter(tool__name="echo")
    assert [each for each in TYPES if echo.filter(has_type((each,), "runner")).exists()] == [name]
    assert echo.filter(has_type(TYPES, "runner") & Q(tool__name="echo")).exists()
