"""Twice the text, twice the work: of a call with hostile arguments, from the socket to the record."""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

import security.content.signs as signs_package
from audit.models import Event
from execution.models import Run
from registry.models import Package, Tool
from registry.releases.overlay import tool_overlay_edit
from security.content.families import Scanner
from security.models import Grant, Persona, User
from tests.execution.fixtures import Declare, declare, fx
from tests.text.counting import HURTING, Counted, counting

__all__ = ["declare", "fx"]
pytestmark = pytest.mark.django_db
FIELDS = ("path", "command", "sql", "url", "html", "text", "note")
SIZES = (1000, 2000, 4000)
# Work that does not depend on the text may differ by this many lines from call to call.
SLACK = 1500
MOST = 2.8


def is_linear(work: Callable[[int], int]) -> tuple[bool, list[int]]:
    """Whether the work grows with the text at most: its growth between two sizes doubles with their distance."""
    steps = [work(size) for size in SIZES]
    return steps[2] - steps[1] <= MOST * max(steps[1] - steps[0], 0) + SLACK, steps


def test_a_call_takes_work_in_proportion_to_its_arguments(
    fx: Package, call: Any, admin: User, subtests: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool_overlay_edit(by=admin, tool=Tool.objects.get(name="fx_kinds"), overlay={"sanitise": True})
    call("fx_kinds", dict.fromkeys(FIELDS, "é"))
    for name, text in HURTING.items():
        with subtests.test(text=name):

            def work(size: int, text: Callable[[int], str] = text) -> int:
                arguments = dict.fromkeys(FIELDS, text(size))
                with counting(monkeypatch) as counter:
                    answer = call("fx_kinds", arguments)
                assert answer.status_code == 200, answer.content[:300]
                return counter.steps

            good, steps = is_linear(work)
            assert good, f"{steps} steps for texts of {SIZES} characters"


def test_scanners_read_a_text_once(subtests: Any) -> None:
    scanners = [
        scanner
        for module in pkgutil.iter_modules(signs_package.__path__)
        for scanner in getattr(
            importlib.import_module(f"{signs_package.__name__}.{module.name}"), "SCANNERS", ()
        )
        if isinstance(scanner, Scanner)
    ]
    assert len(scanners) >= 3
    for scanner in scanners:
        for name, text in HURTING.items():
            with subtests.test(scanner=scanner.finds.__name__, text=name):

                def work(size: int, find: Callable[[str], bool] = scanner.finds, text: Any = text) -> int:
                    Counted.read = 0
                    find(Counted(text(size)))
                    return Counted.read

                good, steps = is_linear(work)
                assert good, f"{steps} characters read of texts of {SIZES}"


def test_a_reference_with_many_digits_is_no_error(fx: Package, call: Any) -> None:
    assert call("fx_kinds", {"html": "&#" + "9" * 5000 + ";"}).status_code == 200
    [warning] = call("fx_kinds", {"html": "&#0000000060;script>alert(1)</script>"}).json()["metadata"][
        "warnings"
    ]
    assert "/html (injection" in warning


def test_the_schema_comes_before_the_search_for_attacks(
    fx: Package, declare: Declare, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = declare("fx_kinds")
    version.definition["inputSchema"]["properties"]["path"]["maxLength"] = 10
    declare("fx_kinds", columns={"definition": version.definition, "digest": "f" * 64})
    monkeypatch.setattr("registry.content.violations_of", None)
    answer = call("fx_kinds", {"path": "../" * 20_000})
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "INVALID_ARGUMENTS"


def test_the_schemas_sizes_come_before_sanitising(
    fx: Package, declare: Declare, call: Any, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = declare("fx_kinds")
    version.definition["inputSchema"]["properties"]["text"] |= {"maxLength": 10, "pattern": "^[a-é]*$"}
    declare("fx_kinds", columns={"definition": version.definition, "digest": "e" * 64})
    tool_overlay_edit(by=admin, tool=Tool.objects.get(name="fx_kinds"), overlay={"sanitise": True})
    # Only once sanitised the text fits the pattern: the other keywords hold for the sanitised form.
    assert call("fx_kinds", {"text": "e\u0301\u202e"}).json()["data"][5] == "é"
    monkeypatch.setattr("execution.engine.calls.sanitise.clean_text", None)
    answer = call("fx_kinds", {"text": "e\u0301" * 6})
    assert answer.json()["error"]["code"] == "INVALID_ARGUMENTS"
    assert answer.json()["errors"][0]["pointer"] == "/arguments/text"


@pytest.mark.parametrize("sanitise", [False, True])
def test_a_call_that_is_denied_and_does_not_fit_is_denied(
    fx: Package, call: Any, admin: User, client: Client, declare: Declare, sanitise: bool
) -> None:
    tool_overlay_edit(by=admin, tool=Tool.objects.get(name="fx_kinds"), overlay={"sanitise": sanitise})
    declare("fx_kinds", columns={"required_capabilities": ["file:read"]})
    answer = call("fx_kinds", {"path": 7})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "CAPABILITY_MISSING")
    assert not Run.objects.exists()
    assert '"run.refused"' in Event.objects.latest("pk").canonical


def test_conditions_are_judged_of_arguments_that_do_not_fit(
    fx: Package, call: Any, admin: User, persona: Persona, declare: Declare
) -> None:
    declare("fx_kinds", columns={"required_capabilities": ["file:read"]})
    conditions = [{"kind": "path", "argument": "/path", "values": ["/data"]}]
    Grant.objects.create(
        persona=persona, capability="file:read", reason="x", granted_by=admin, conditions=conditions
    )
    assert call("fx_kinds", {"path": "/etc/passwd", "more": 1}).status_code == 403
    assert call("fx_kinds", {"path": "/data/x", "more": 1}).status_code == 422
