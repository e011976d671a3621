"""Each arm calls what it says: the hub answers, and does what the arm is to measure."""

import io
import itertools
import json
from collections import Counter
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from bench.arms import ARMS, PERSONAS, TOOLS, Arm, Request, chosen
from bench.management.commands.bench_changes import Command
from bench.management.commands.bench_prepare import world_make
from execution.models import IdempotencyKey, Run
from security.models import Grant, User
from security.policy.models import Usage


@pytest.fixture
def world(admin: User, published: None) -> dict[str, Any]:
    return world_make(admin)


def called(client: Client, request: Request) -> Any:
    headers = {"Authorization": f"Bearer {request.token}", **request.headers}
    return client.post(request.path, request.body, content_type="application/json", headers=headers)


def requests_of(arm: Arm, world: dict[str, Any]) -> Any:
    assert arm.requests
    return arm.requests(world)


# Arms whose runs are not over when they are accepted.
BEGUN = {"impure", "limited", "limited_impure", "isolated", "queued", "sessions"}


@pytest.mark.django_db
def test_the_hub_answers_each_arm_and_keeps_a_run_of_each_call(
    client: Client, world: dict[str, Any], subtests: pytest.Subtests
) -> None:
    for name, arm in ARMS.items():
        if not arm.is_hubs:
            continue
        with subtests.test(name):
            before = set(Run.objects.values_list("pk", flat=True))
            for request in itertools.islice(requests_of(arm, world), 3):
                if name == "isolated":  # no worker is here
                    request = Request(request.path, request.token, request.body, {"Prefer": "respond-async"})
                answer = called(client, request)
                assert answer.status_code == (202 if "Prefer" in request.headers else 200), answer.content
                assert b"isError" not in answer.content
            runs = Run.objects.exclude(pk__in=before)
            assert runs.count() == 3
            assert {(run.tool_version.runner, run.is_brief) for run in runs} == {
                ("python" if name == "isolated" else "builtin", name not in BEGUN)
            }


@pytest.mark.django_db
def test_arms_with_limits_are_counted_and_those_with_keys_kept(client: Client, world: dict[str, Any]) -> None:
    for name in ("limited", "limited_impure"):
        called(client, next(requests_of(ARMS[name], world)))
    assert {row.used for row in Usage.objects.filter(limit__measure="calls")} == {2}
    for request in itertools.islice(requests_of(ARMS["keyed"], world), 3):
        called(client, request)
    assert IdempotencyKey.objects.count() == 3


@pytest.mark.django_db
def test_many_is_each_token_with_each_tool_and_sessions_each_its_own(world: dict[str, Any]) -> None:
    pairs = itertools.islice(requests_of(ARMS["many"], world), PERSONAS * TOOLS)
    assert len({(one.token, one.path) for one in pairs}) == PERSONAS * TOOLS
    bodies = [json.loads(one.body) for one in itertools.islice(requests_of(ARMS["sessions"], world), 5)]
    assert len({body["context"]["session_id"] for body in bodies}) == 5


@pytest.mark.django_db
def test_the_rights_that_change_are_those_of_a_persona_that_calls_nothing(
    world: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("0.3\n0.2\n"))
    command = Command(stdout=io.StringIO())
    command.handle()
    lines = [line.split() for line in command.stdout.getvalue().splitlines()]
    assert [wanted for _, wanted in lines] == ["3", "2"]
    made = sum(int(made) for made, _ in lines)
    kinds = Counter(Event.objects.filter(kind__startswith="grant.").values_list("kind", flat=True))
    assert kinds.total() == made >= 2
    assert Grant.objects.count() == made % 2


def test_arms_are_chosen_with_those_that_they_are_compared_with() -> None:
    assert list(chosen(["mcp", "isolated"])) == ["echo", "mcp", "isolated"]
    with pytest.raises(ValueError, match=r"There is no arm nothing\. The arms are floor, bare, echo"):
        chosen(["nothing", "echo"])


@pytest.mark.parametrize("name", ARMS)
def test_an_arm_is_compared_with_one_that_is_measured_with_as_many_clients(name: str) -> None:
    arm = ARMS[name]
    assert {goal.clients for goal in arm.goals} <= set(arm.clients)
    if arm.against:
        assert set(arm.clients) <= set(ARMS[arm.against].clients)
    else:
        assert all(goal.is_absolute for goal in arm.goals)
