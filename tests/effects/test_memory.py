"""A tool from outside, in the sandbox, remembers what its contract names; scopes end as they should."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.services import assignment_create
from security.models import Persona, User
from tests.effects.conftest import Ask, Perform, work_all
from tests.sandbox.packages import publish

pytestmark = [pytest.mark.sandbox]


def test_what_one_tool_wrote_another_reads_in_the_same_session_only(perform: Perform, ask: Ask) -> None:
    here, there = ({"context": {"session_id": name}} for name in ("here", "there"))
    for scope in ("working", "short-term", "long-term"):
        assert perform("fx_mem_write", {"value": scope, "scope": scope}, **here)["success"] is True
        assert ask("GET", f"memory/{scope}/note?session_id=here")["value"] == scope
    read = [perform("fx_mem_read", {"scope": scope}, **here)["data"] for scope in ("working", "short-term")]
    assert read == ["working", "short-term"]
    assert perform("fx_mem_read", {}, **there)["data"] is None
    assert perform("fx_mem_read", {"scope": "long-term"}, **there)["data"] == "long-term"


def test_a_program_in_another_language_reads_memory_in_its_request(
    call: Callable[..., Any], ask: Ask, admin: User, persona: Persona, transactional_db: None
) -> None:
    contract = {
        "memory": {"working": ["note"], "long-term": ["prefs.*"]},
        "preconditions": [
            {"type": "resource", "description": "It works.", "resource": "r", "availability": "preferred"}
        ],
        "effects": [
            {
                "type": "memory",
                "description": "Note it.",
                "scope": "working",
                "operation": "write",
                "key": "note",
                "expression": "result.arguments.text",
            }
        ],
    }
    definition = {
        "name": "sh_tell",
        "description": "Tells what it was given.",
        "inputSchema": {"type": "object"},
        "_meta": {"io.toolhub/contract": contract},
    }
    made = {
        "name": "sh-tell",
        "version": "1.0.0",
        "runtime": {"type": "command", "entry": ["sh", "tell.sh"]},
        "tools": [definition],
    }
    release = publish(made, {"tell.sh": b"cat\n"})
    assignment_create(by=admin, persona=persona, package=release.package)
    ask("PUT", "memory/long-term/prefs.unit", {"value": "C"})
    ask("PUT", "memory/long-term/other", {"value": "not named"})
    said = []
    for text in ("one", "two"):
        accepted = call("sh_tell", {"text": text}, HTTP_PREFER="respond-async").json()
        work_all()
        said.append(ask("GET", f"runs/{accepted['metadata']['run_id']}")["data"]["context"])
    assert [one["memory"] for one in said] == [
        {"working": {}, "long-term": {"prefs.unit": "C"}},
        {"working": {"note": "one"}, "long-term": {"prefs.unit": "C"}},
    ]
    assert said[0]["degraded"] == ["It works."]
    assert ask("GET", "memory/working/note")["value"] == "two"
