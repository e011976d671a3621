"""Arguments are sanitised for tools that want it, before anything judges them; the run keeps both forms."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from execution.engine.calls.sanitise import clean_text
from execution.models import Run
from registry.models import Package, Tool
from registry.releases.overlay import tool_overlay_edit
from security.models import Persona, User
from security.services import grant_create
from tests.execution.fixtures import Declare

pytestmark = pytest.mark.django_db
HOSTILE = "a\u202eb\u0007"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (HOSTILE, "ab"),
        ("e\u0301", "é"),
        ("tab\tand\r\nlines\n", "tab\tand\r\nlines\n"),
        ("nul\0esc\x1b[31m\x7f\x85", "nulesc[31m"),
        ("\u2066isolated\u2069 \u200emark\u061c", "isolated mark"),
        ("👩\u200d👩\u200d👧 zero\u200bwidth", "👩\u200d👩\u200d👧 zero\u200bwidth"),
        ("", ""),
    ],
)
def test_a_text(text: str, clean: str) -> None:
    assert clean_text(text) == clean


@pytest.mark.parametrize(
    ("path", "clean"),
    [
        ("/data/../etc/passwd", "/etc/passwd"),
        ("/data/./a//b/", "/data/a/b"),
        ("//data/x", "/data/x"),
        ("../../x", "../../x"),
        ("/da\u202eta/\0x", "/data/x"),
        ("", ""),
    ],
)
def test_a_path(path: str, clean: str) -> None:
    assert clean_text(path, is_path=True) == clean


@given(st.text(), st.booleans())
def test_what_is_clean_stays_as_it_is(text: str, is_path: bool) -> None:
    once = clean_text(text, is_path=is_path)
    assert clean_text(once, is_path=is_path) == once


@pytest.fixture
def cleaning(fx: Package, declare: Declare) -> None:
    declare("fx_echo", sanitise=True)


def test_the_tool_sees_the_clean_form_and_the_run_keeps_both(cleaning: None, call: Any, admin: User) -> None:
    answer = call("fx_echo", {"value": {"q": [HOSTILE, 1, None]}}).json()
    assert answer["data"] == {"q": ["ab", 1, None]}
    assert answer["metadata"]["warnings"] == ["Arguments were sanitised: /value/q/0."]
    run = Run.objects.get()
    assert run.arguments == {"value": {"q": ["ab", 1, None]}}
    assert run.request["given"] == {"value": {"q": [HOSTILE, 1, None]}}
    eyes = Client()
    eyes.force_login(admin)
    body = eyes.get(f"/runs/{run.pk}/").content.decode()
    assert "Before they were sanitised" in body
    assert "\u202e" not in body


def test_what_is_clean_leaves_no_trace(cleaning: None, call: Any) -> None:
    answer = call("fx_echo", {"value": "plain"}).json()
    assert answer["metadata"]["warnings"] == []
    assert "given" not in Run.objects.get().request


def test_other_tools_get_what_was_sent(fx: Package, call: Any) -> None:
    assert call("fx_echo", {"value": HOSTILE}).json()["data"] == HOSTILE


def test_an_admin_can_want_it(fx: Package, call: Any, admin: User) -> None:
    tool = Tool.objects.get(name="fx_echo")
    tool_overlay_edit(by=admin, tool=tool, overlay={"sanitise": True})
    assert call("fx_echo", {"value": HOSTILE}).json()["data"] == "ab"
    tool_overlay_edit(by=admin, tool=tool, overlay={})
    assert call("fx_echo", {"value": HOSTILE}).json()["data"] == HOSTILE


def test_conditions_of_grants_see_the_clean_form(
    fx: Package, declare: Declare, call: Callable[..., Any], admin: User, persona: Persona
) -> None:
    declare("fx_echo", sanitise=True, columns={"required_capabilities": ["file:read"]})
    conditions = [{"kind": "equals", "argument": "/value", "values": ["ab"]}]
    grant_create(by=admin, persona=persona, capability="file:read", reason="x", conditions=conditions)
    assert call("fx_echo", {"value": HOSTILE}).json()["data"] == "ab"
    assert call("fx_echo", {"value": "other"}).status_code == 403


def test_a_key_means_the_same_request_again(cleaning: None, call: Any) -> None:
    first = call("fx_echo", {"value": HOSTILE}, HTTP_IDEMPOTENCY_KEY="k").json()
    again = call("fx_echo", {"value": HOSTILE}, HTTP_IDEMPOTENCY_KEY="k").json()
    assert again["metadata"]["run_id"] == first["metadata"]["run_id"]
    assert call("fx_echo", {"value": "ab"}, HTTP_IDEMPOTENCY_KEY="k").status_code == 409
