"""A tool from outside, in the sandbox, remembers what its contract names; scopes end as they should."""

import pytest

from tests.effects.conftest import Ask, Perform

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
