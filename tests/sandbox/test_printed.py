"""What a tool prints is told while it works: in whole lines, bounded, and never a part of a secret."""

import dataclasses
import threading
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.models import Status
from execution.runners import printed
from execution.runners.perform import call_run
from execution.runners.printed import BEGIN_MOST, END_MOST, Printed
from execution.runners.sandboxed import held_outcome
from registry.config.services import config_change
from registry.models import ToolVersion
from security.models import User
from security.redaction import MARK, Redactor
from security.sandbox.gate import Reached
from security.sandbox.launch import Finished, Limits
from security.sandbox.levels import Level
from tests.sandbox.packages import box_publish, publish
from tests.sandbox.test_secrets import KEY, manifest

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]
PEM = "-----BEGIN KEY-----\nAAAA1111BBBB2222\nCCCC3333DDDD4444\n-----END KEY-----"
SHELL = r"""#!/bin/sh
read -r secrets <&$TOOLHUB_SECRETS_FD
echo "has $secrets" >&2
echo "so far so good"
while :; do sleep 0.05; done
"""


def call_of(tool: str, told: list[Mapping[str, Any]], **members: Any) -> Call:
    version = ToolVersion.objects.select_related("tool__package").get(tool__name=tool)
    return Call(
        run_id=uuid.uuid4(),
        tool=tool,
        runner=version.runner,
        version=version,
        arguments={},
        request={},
        attempt=1,
        timeout_ms=30_000,
        max_output_bytes=10_000,
        inline=False,
        cancelled=threading.Event(),
        tell=lambda kind, data: told.append(data),
        **members,
    )


def finished(stdout: bytes = b"", log: bytes = b"", logged: int = 0) -> Finished:
    return Finished("exited", 0, stdout, log, 1.0, {}, Level.ISOLATED, None, logged=logged)


@pytest.fixture
def hears(db: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`hears(redactor)`: one that hears a call, and what it told so far."""
    monkeypatch.setattr(printed, "EVERY_S", 0.0)
    box_publish()

    def do(redactor: Redactor | None = None) -> tuple[Printed, list[Mapping[str, Any]]]:
        told: list[Mapping[str, Any]] = []
        return Printed(call_of("box_echo", told, redactor=redactor)), told

    return do


def test_a_command_is_heard_on_both_streams_and_its_secret_is_not(admin: User) -> None:
    runtime = {"type": "command", "entry": ["sh", "tool.sh"]}
    release = publish(manifest("loud-sh", runtime, "loud_sh", "look"), {"tool.sh": SHELL.encode()})
    config_change(by=admin, package=release.package, changes={"api_key": KEY})
    told: list[Mapping[str, Any]] = []
    call = call_of("loud_sh", told)

    def hear(kind: str, data: Mapping[str, Any]) -> None:
        told.append(data)
        if len(told) == 2:
            call.stop(lost=False)

    call.tell = hear
    done = call_run(call)
    assert done.status == Status.CANCELLED, done.error
    assert {each["stream"]: each["text"] for each in told} == {
        "stdout": "so far so good\n",
        "stderr": f'has {{"api_key":"{MARK}"}}\n',
    }
    assert done.told == []


def test_a_python_tool_that_is_quick_tells_its_prints_with_its_outcome(db: None) -> None:
    box_publish()
    told: list[Mapping[str, Any]] = []
    call = call_of("box_echo", told)
    call.arguments = {"value": 1}
    done: Outcome = call_run(call)
    assert done.data == 1, done.error
    text = "printed\nprinted by a program\n"
    assert told == [] or "".join(each["text"] for each in told) == text
    if not told:
        assert done.told == [("TOOL_CALL_PRINTED", {"attempt": 1, "stream": "stderr", "text": text})]


def test_only_whole_lines_are_told_before_the_end(hears: Any) -> None:
    one, told = hears()
    one.log(b"a line\nand a ha")
    one.look()
    assert [each["text"] for each in told] == ["a line\n"]
    assert one.rest(finished(log=b"a line\nand a half", logged=17), True) == [
        {"attempt": 1, "stream": "stderr", "text": "and a half"}
    ]


def test_a_secret_of_several_lines_is_never_told_in_parts(hears: Any) -> None:
    text = f"before\n{PEM}\nafter\n" * 3
    for size in range(1, len(PEM) + 20, 7):
        one, told = hears(Redactor([PEM]))
        for at in range(0, len(text), size):
            one.log(text[at : at + size].encode())
            one.look()
        rest = one.rest(finished(log=text.encode(), logged=len(text)), True)
        assert "".join(each["text"] for each in [*told, *rest]) == f"before\n{MARK}\nafter\n" * 3


def test_of_a_flood_the_beginning_and_the_end_are_told_and_the_rest_is_counted(hears: Any) -> None:
    one, told = hears()
    text = b"".join(b"line %d\n" % number for number in range(20_000))
    for at in range(0, len(text), 5000):
        one.log(text[at : at + 5000])
        one.look()
    (rest,) = one.rest(finished(log=text[-65_536:], logged=len(text)), True)
    begin = "".join(each["text"] for each in told)
    assert text.decode().startswith(begin)
    assert len(begin) <= BEGIN_MOST
    assert text.decode().endswith(rest["text"])
    assert END_MOST - 20 < len(rest["text"]) <= END_MOST
    assert rest["left_out"] == len(text) - len(begin) - len(rest["text"])


def test_half_a_secret_at_the_edge_of_what_was_kept_is_not_told(hears: Any) -> None:
    one, _ = hears(Redactor([KEY]))
    lines = "the end\n" * 20
    (rest,) = one.rest(finished(log=f"{KEY[5:]}\n{lines}of it\n".encode(), logged=1_000_000), True)
    assert KEY[5:] not in rest["text"]
    assert rest["text"].endswith("of it\n")


def test_the_output_of_a_program_without_a_result_is_told(hears: Any) -> None:
    one, _ = hears()
    assert one.rest(finished(stdout=b'{"a": 1}'), True) == []
    (rest,) = one.rest(finished(stdout=b"no JSON"), False)
    assert (rest["stream"], rest["text"]) == ("stdout", "no JSON")


def test_a_secret_in_the_name_of_a_host_is_not_kept(hears: Any) -> None:
    call = call_of("box_echo", [], redactor=Redactor([KEY]))
    asked = Reached(f"{KEY}.example.org", 443, False, "not in network.allow", 1)
    done = dataclasses.replace(finished(), reached=[asked])
    now = datetime.now(UTC)
    outcome = held_outcome(
        call, done, Limits(), now, lambda *_: Outcome(Status.COMPLETED, now, now, 1.0), {"level": "isolated"}
    )
    assert outcome.sandbox is not None
    assert outcome.sandbox["network"][0]["host"] == f"{MARK}.example.org"
    assert KEY not in str(outcome.told)
