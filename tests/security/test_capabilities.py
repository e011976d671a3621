"""What holds what: a table by hand. `a:b` is held by `a:b`, `a`, `a:*` and `*`, and by nothing else."""

from collections.abc import Callable
from typing import Any

import pytest

from core.errors import InvalidRequest
from security.capabilities import capability_check, holders, is_capability
from security.models import Persona, User
from security.policy.catalogue import capabilities_note
from security.policy.services import restriction_create
from security.policy.tiers import tier_change, tier_create
from security.services import grant_create

# needed, granted, held
PAIRS = [
    ("file:read", "file:read", True),
    ("file:read", "file", True),
    ("file:read", "file:*", True),
    ("file:read", "*", True),
    ("file:write:tmp", "file:write:tmp", True),
    ("file:write:tmp", "file:write", True),
    ("file:write:tmp", "file:write:*", True),
    ("file:write:tmp", "file:*", True),
    ("file:write:tmp", "file", True),
    ("file:write:tmp", "*", True),
    ("file", "file", True),
    ("file", "*", True),
    ("network:api.example", "network:api.example", True),
    ("network:api.example.org", "network:*", True),
    ("network:api.example.org", "network", True),
    ("file.read", "file.read", True),
    ("file.read", "file", True),
    ("file.read", "file.*", True),
    ("file.read", "*", True),
    ("db.table.read", "db.*", True),
    # near misses
    ("file:read", "file:write", False),
    ("file:write", "files:write", False),
    ("files:write", "file:write", False),
    ("file:write", "files", False),
    ("file:write", "fil*", False),
    ("file:write", "fil", False),
    ("file:write", "file*", False),
    ("file:write", "file:w*", False),
    ("file:write", "*:write", False),
    ("file:write", "file:write:*", False),
    ("file:write", "file:write:tmp", False),
    ("file:write:tmp", "file:write:tm", False),
    ("file:write:tmp", "file:write:tmp2", False),
    ("file:write:tmp", "file:read", False),
    ("file:write:tmp", "file:tmp", False),
    ("file", "file:*", False),
    ("file", "file:read", False),
    ("file:read", "FILE:READ", False),
    ("file:read", "file.read", False),
    ("file:read", "file.*", False),
    ("file.read", "file:read", False),
    ("file.read", "file:*", False),
    ("network:api.example.org", "network:api.example", False),
    ("network:api.example", "network:api.example.org", False),
    ("network:api.example.org", "network:api.*", False),
    ("network:api.example.org", "network:api", False),
    ("network:api.example.org", "network:*.example.org", False),
    ("file:read", "", False),
    ("file:read", " file:read", False),
    ("file:read", "?ile:read", False),
    ("file:read", "**", False),
    ("network", "net", False),
]


def test_the_table_is_as_long_as_was_asked() -> None:
    assert len({(needed, granted) for needed, granted, _ in PAIRS}) >= 40


@pytest.mark.parametrize(("needed", "granted", "held"), PAIRS)
def test_a_capability_is_held(needed: str, granted: str, held: bool) -> None:
    assert (granted in holders(needed)) == held


def test_holders_are_listed_narrowest_first() -> None:
    assert holders("a:b") == ("a:b", "a:*", "a", "*")
    assert holders("a") == ("a", "*")
    assert holders("a:b:c") == ("a:b:c", "a:b:*", "a:b", "a:*", "a", "*")


GOOD = [
    "*",
    "file",
    "file:read",
    "file:*",
    "file:write:tmp",
    "file:write:*",
    "network:api.example.org",
    "file.read",
]
GOOD += ["db.table.*", "a-b_c:/tmp/x", "a" * 120]
WRONG = [
    "",
    " ",
    "fil*",
    "file*",
    "*:read",
    "file:*:read",
    "file:",
    ":read",
    "file::read",
    "file:re ad",
    "file.*.x",
]
WRONG += [
    "network:*.example.org",
    "**",
    "file:read\n",
    "é",
    "a" * 121,
    "file:[ab]",
    "?",
    "file:read,file:write",
]


@pytest.mark.parametrize("text", GOOD)
def test_a_well_formed_capability_is_accepted(text: str) -> None:
    assert is_capability(text)


@pytest.mark.parametrize("text", WRONG)
def test_a_malformed_one_is_not(text: str) -> None:
    assert not is_capability(text)


@pytest.mark.parametrize("text", [*GOOD, "approved:getWeather"])
def test_a_capability_has_one_spelling(text: str) -> None:
    assert capability_check(text) == text


# U+0131, U+017F, U+212A: small letters of which databases and Unicode fold to ASCII.
@pytest.mark.parametrize(
    "text", ["File:read", "file:READ", "FILE", "Approved:x", "fıle:read", "f\u017file", "\u212aey"]
)
def test_another_spelling_is_refused_with_the_right_one(text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        capability_check(text)
    assert caught.value.errors[0]["pointer"] == "/capability"
    if text.isascii():
        assert f"write {text.lower()!r}" in caught.value.message


def test_capitals_are_refused_wherever_a_capability_is_named(admin: User, persona: Persona) -> None:
    given: dict[str, Any] = {"by": admin, "reason": "r"}
    tier = tier_create(by=admin, name="pro")
    doors: dict[str, list[Callable[[str], object]]] = {
        "/capability": [
            lambda name: grant_create(persona=persona, capability=name, **given),
            lambda name: restriction_create(capability=name, **given),
        ],
        "/capabilities/1": [lambda name: tier_change(by=admin, tier=tier, capabilities=["file:read", name])],
    }
    for pointer, acts in doors.items():
        for act in acts:
            with pytest.raises(InvalidRequest) as caught:
                act("File:read")
            assert [error["pointer"] for error in caught.value.errors] == [pointer]
    assert not persona.grants.exists()
    # A tool that was published before asks for exactly this spelling.
    capabilities_note(["File:read"])
    for acts in doors.values():
        for act in acts:
            act("File:read")
