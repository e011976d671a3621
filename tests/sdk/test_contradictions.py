"""Contracts whose parts contradict each other are refused, and what is only doubtful is a warning."""

import copy
from typing import Any

import pytest

from tests.registry.test_manifests import GOOD
from toolhub_sdk.checks.contradictions import contradictions
from toolhub_sdk.checks.manifest import manifest_problems
from toolhub_sdk.lint.advice import advice_on
from toolhub_sdk.lint.contradictions import contradictions_in
from toolhub_sdk.package import CONTRACT

AT = "/tools/0/_meta/io.toolhub~1contract"
STEP = {"type": "state_change", "description": "A.", "state": "n", "change": "increment"}
NOTE = {"type": "notification", "description": "A.", "event": "read"}
MEMORY = {
    "type": "memory",
    "description": "A.",
    "scope": "working",
    "operation": "write",
    "key": "k",
    "value": 1,
}
CASCADE = {"type": "cascade", "description": "A.", "tool": "warn"}
HTTP = {"path": "/a", "method": "GET"}

# What a contract says, where it is refused, and one change that mends it.
REFUSED: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    (
        {"sideEffects": "pure", "filesystem": {"write": ["out"]}},
        "filesystem/write",
        {"sideEffects": "impure"},
    ),
    *(
        ({"sideEffects": "pure", "effects": [effect]}, "effects", {"sideEffects": "impure"})
        for effect in (STEP, NOTE, MEMORY, CASCADE)
    ),
    *(
        (
            {"sideEffects": "pure", "requiredCapabilities": [name]},
            "requiredCapabilities",
            {"sideEffects": "impure"},
        )
        for name in ("file:write", "memory:write", "customer:record:delete")
    ),
    (
        {"isolation": "paranoid", "network": {"allow": ["a.org:443"]}},
        "network/allow",
        {"isolation": "strict"},
    ),
]
TAKEN: list[dict[str, Any]] = [
    {"sideEffects": "pure", "filesystem": {"read": ["in"], "write": []}},
    {"sideEffects": "pure", "network": {"allow": ["a.org:443"]}, "isolation": "strict"},
    {"sideEffects": "pure", "memory": {"working": ["k"]}},
    {"sideEffects": "pure", "requiredCapabilities": ["file:read", "writer:page"]},
    {"sideEffects": "impure", "filesystem": {"write": ["out"]}, "effects": [STEP]},
    {"isolation": "paranoid", "network": {"allow": []}},
]
DOUBTED: list[tuple[dict[str, Any], str]] = [
    ({"determinism": "deterministic", "network": {"allow": ["a.org:443"]}}, "DETERMINISM_DOUBTFUL"),
    ({"determinism": "deterministic", "http": HTTP}, "DETERMINISM_DOUBTFUL"),
    ({"determinism": "deterministic", "memory": {"working": ["k"]}}, "DETERMINISM_DOUBTFUL"),
    ({"determinism": "deterministic", "filesystem": {"read": ["in"]}}, "DETERMINISM_DOUBTFUL"),
    ({"idempotent": True, "effects": [STEP]}, "IDEMPOTENCE_DOUBTFUL"),
]


def made(contract: dict[str, Any], *, runtime: str = "python") -> dict[str, Any]:
    """A good manifest whose tool has this contract alone."""
    manifest = copy.deepcopy(GOOD)
    if runtime == "http":
        manifest["runtime"] = {"type": "http", "entry": "https://a.org"}
    tool = manifest["tools"][0]
    tool["annotations"] = {}
    tool["_meta"] = {CONTRACT: {"category": "data", "determinism": "non_deterministic", **contract}}
    return manifest


def refused_at(manifest: dict[str, Any]) -> list[str]:
    return [problem.pointer.removeprefix(f"{AT}/") for problem in manifest_problems(manifest)]


@pytest.mark.parametrize(("contract", "place", "mend"), REFUSED)
def test_a_contradiction_is_refused_where_it_stands(
    contract: dict[str, Any], place: str, mend: dict[str, Any]
) -> None:
    assert refused_at(made(contract)) == [place]
    assert refused_at(made({**contract, **mend})) == []


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_a_pure_request_does_not_change_the_server(method: str) -> None:
    contract = {
        "sideEffects": "pure",
        "http": {**HTTP, "method": method},
        "network": {"allow": ["a.org:443"]},
    }
    wrong = [place for place in refused_at(made(contract, runtime="http")) if place == "http/method"]
    assert bool(wrong) is (method in {"PUT", "PATCH", "DELETE"})


@pytest.mark.parametrize("contract", TAKEN)
def test_what_goes_together_is_taken(contract: dict[str, Any]) -> None:
    assert refused_at(made(contract)) == []


def test_each_row_of_the_table_is_tried() -> None:
    assert {one.place for one in contradictions()} == {place for _, place, _ in REFUSED} | {"http/method"}


@pytest.mark.parametrize(("contract", "code"), DOUBTED)
def test_a_doubt_is_a_warning(contract: dict[str, Any], code: str) -> None:
    tool = made(contract)["tools"][0]
    found = [each.code for each in (*advice_on(tool, "/tools/0"), *contradictions_in(tool, "/tools/0"))]
    assert code in found
