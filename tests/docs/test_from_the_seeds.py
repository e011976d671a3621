"""Each name of ours in the page of seeds is there: routes, fields, codes, settings, commands, pages."""

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import get_commands
from django.urls import Resolver404, resolve

import toolhub_sdk
from core.codes import CODES
from execution.engine import events
from execution.features.retry.policies import POLICIES
from registry.catalogue import catalogue_modules
from toolhub_sdk.package import tools_of

ROOT = Path(settings.ROOT)
PAGE = (ROOT / "docs" / "from-the-seeds.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| theirs")]


def cells(row: str) -> tuple[str, list[str], str]:
    theirs, ours, note = (cell.strip() for cell in row.strip("|").split(" | "))
    return theirs, re.findall(r"`([^`]+)`", ours), note


def refs() -> list[str]:
    return sorted({ref for row in ROWS for ref in cells(row)[1]})


@functools.cache
def described() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((ROOT / "toolhub" / "openapi.json").read_bytes())
    return read


@functools.cache
def members() -> frozenset[str]:
    """The names of all members that the API's description knows."""
    found: set[str] = set()
    pending: list[Any] = [described()]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            found |= set(node.get("properties", {}) if isinstance(node.get("properties"), dict) else ())
            pending += node.values()
        elif isinstance(node, list):
            pending += node
    return frozenset(found)


def is_route(ref: str) -> bool:
    method, _, path = ref.partition(" ")
    found = described()["paths"].get(f"/api/v1{path}", {})
    return method.lower() in found


def is_page(ref: str) -> bool:
    try:
        resolve(ref.removeprefix("page "))
    except Resolver404:
        return False
    return True


def is_ours_in_python(ref: str) -> bool:
    found: Any = toolhub_sdk
    for part in ref.split(".")[1:]:
        if part not in getattr(found, "__dataclass_fields__", {}) and not hasattr(found, part):
            return False
        found = getattr(found, part, None)
    return True


def is_in_manifest(ref: str) -> bool:
    page = (ROOT / "docs" / "manifest.md").read_text(encoding="utf-8")
    return f"| `{ref.removeprefix('manifest: ')}` |" in page


def is_tool(ref: str) -> bool:
    name = ref.removeprefix("tool: ")
    return any(name == each["name"] for module in catalogue_modules("catalogue") for each in tools_of(module))


def is_word(ref: str) -> bool:
    return ref in CODES or ref in POLICIES or ref in vars(events).values()


def is_setting(ref: str) -> bool:
    return f"`{ref}`" in (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


KINDS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    (r"(GET|POST|PUT|PATCH|DELETE) /", is_route),
    (r"page /", is_page),
    (r"toolhub_sdk\.", is_ours_in_python),
    (r"manifest: ", is_in_manifest),
    (r"answer: ", lambda ref: ref.removeprefix("answer: ") in members()),
    (r"tool: ", is_tool),
    (r"example: ", lambda ref: (ROOT / "examples" / ref.removeprefix("example: ")).is_dir()),
    (r"test: ", lambda ref: (ROOT / ref.removeprefix("test: ")).is_file()),
    (r"docs/", lambda ref: (ROOT / ref).is_file()),
    (r"manage\.py ", lambda ref: ref.removeprefix("manage.py ") in get_commands()),
    (
        r"python -m toolhub_sdk ",
        lambda ref: (ROOT / "toolhub_sdk" / "cli" / f"command_{ref.split()[-1]}.py").is_file(),
    ),
    (r"TOOLHUB_", is_setting),
    (r"[A-Z_]+$", is_word),
)


@pytest.mark.parametrize("ref", refs())
def test_a_name_of_ours_is_there(ref: str) -> None:
    looks = [look for pattern, look in KINDS if re.match(pattern, ref)]
    assert looks, f"{ref} is of no kind that is known"
    assert looks[0](ref), f"{ref} is not there"


def test_each_row_has_a_place_or_says_why_not() -> None:
    for row in ROWS:
        theirs, ours, note = cells(row)
        assert theirs, row
        assert ours or note.lower().startswith(("not yet: ", "no: ")), row


def test_what_is_not_there_is_not_a_name() -> None:
    for ref in ("GET /nowhere", "page /nowhere/", "toolhub_sdk.Nothing", "manifest: nothing", "NOTHING_SUCH"):
        assert not next(look for pattern, look in KINDS if re.match(pattern, ref))(ref)
