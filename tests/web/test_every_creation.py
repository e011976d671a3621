"""Each POST of the API that creates something honours Idempotency-Key.

A new one: describe it by `creates(…)` (security/idempotency.py) in place of `extend_schema`, and say in BODIES
what it takes. One that creates nothing says so in CREATES_NOTHING.
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from audit.models import Event
from core.submissions.models import Submission
from core.submissions.services import submissions_expire
from execution.memory.models import Webhook
from execution.models import Run
from registry.collections.models import Collection
from registry.installations.models import Installation
from registry.models import Assignment, Package, Tool
from registry.services import assignment_create
from security.models import Grant, OutputPattern, Persona, Token, User
from security.policy.models import Flag, Limit, Restriction, Tier
from security.services import grant_create, persona_create, token_create
from security.signing import signing_secret_create
from tests.installations import packages
from tests.web.world import Route, World, routes

pytestmark = pytest.mark.django_db
DESCRIPTION = json.loads((Path(__file__).parents[2] / "toolhub" / "openapi.json").read_text(encoding="utf-8"))
QUOTA = {"kind": "quota", "amount": 1, "window_s": 60, "persona": "researcher"}
RULE = {"expression": "true", "message": "Never."}
# What each sends, and another body that would also be accepted.
BODIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "api_assignments": ({"tool": "fx_context"}, {"tool": "fx_echo"}),
    "api_collections": ({"name": "another"}, {"name": "third"}),
    "api_flags": ({"name": "alpha"}, {"name": "gamma"}),
    "api_grants": ({"capability": "file:write", "reason": "r"}, {"capability": "file:list", "reason": "r"}),
    "api_installations": (
        {"source": {"type": "url", "location": "https://example.org/a.zip", "digest": "0" * 64}},
        {"source": {"type": "url", "location": "https://example.org/b.zip", "digest": "0" * 64}},
    ),
    "api_limits": (QUOTA, {**QUOTA, "amount": 2}),
    "api_output_patterns": (
        {"name": "Cards", "pattern": "card-[0-9]+"},
        {"name": "Ids", "pattern": "id-[0-9]+"},
    ),
    "api_pauses": ({"persona": "researcher", "reason": "no"}, {"persona": "stranger", "reason": "no"}),
    "api_personas": ({"name": "another"}, {"name": "third"}),
    "api_restrictions": (
        {"capability": "file:write", "reason": "no"},
        {"capability": "file", "reason": "no"},
    ),
    "api_tiers": ({"name": "silver"}, {"name": "bronze"}),
    "api_token_rotate": ({"overlap_hours": 1}, {"overlap_hours": 2}),
    "api_tokens": ({"name": "laptop"}, {"name": "phone"}),
    "api_tool_rules": (RULE, {**RULE, "message": "No."}),
    "api_webhooks": (
        {"url": "https://1.1.1.1/", "events": ["*"]},
        {"url": "https://1.1.1.1/b", "events": ["*"]},
    ),
}
# Those that make runs keep their keys with them (execution/engine/submit.py).
RUNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "api_execute": (
        {"operation": "execute_single", "parameters": {"toolName": "fx_context", "arguments": {}}},
        {"operation": "execute_single", "parameters": {"toolName": "fx_big", "arguments": {"size": 1}}},
    ),
    "api_run_replay": ({"again": True}, {}),
    "api_run_retry": ({}, {}),
    "api_tool_execute": ({"arguments": {}}, {"arguments": {}, "context": {"session_id": "s2"}}),
}
CREATES_NOTHING = {
    "api_approval_approve": "an approval is decided once",
    "api_approval_delegate": "names who decides",
    "api_approval_deny": "as api_approval_approve",
    "api_decisions_simulate": "reads",
    "api_installation_approve": "the digest that was reviewed is its version",
    "api_installation_cancel": "ends it; again, it is over already",
    "api_installation_retry": "a failed step is tried again once; then it has not failed",
    "api_package_config_test": "asks a server",
    "api_release_activate": "edits, with If-Match",
    "api_release_deprecate": "as api_release_activate",
    "api_release_quarantine": "as api_release_activate",
    "api_release_restore": "as api_release_activate",
    "api_release_yank": "as api_release_activate",
    "api_run_cancel": "asks again for what was asked",
    "api_run_cleanup": "removes what is there",
    "api_run_redeliver": "sends again what its receiver knows by its id",
    "api_run_resolve": "a run is resolved once",
    "api_runs_cancel": "as api_run_cancel",
    "api_tool_rule_try": "reads",
    "api_tool_schema": "reads",
}
# Members that are shown once, and null in a repeated answer.
SHOWN_ONCE = {"api_tokens": "token", "api_token_rotate": "token"}
MADE = (
    Assignment,
    Collection,
    Flag,
    Grant,
    Installation,
    Limit,
    OutputPattern,
    Persona,
    Restriction,
    Run,
    Tier,
    Token,
    Webhook,
)


def posting() -> dict[str, Route]:
    """Every POST of the API, by its route's name."""
    found = (one for one in routes() if "post" in one.methods and one.pattern.startswith("api/v1/"))
    return {one.name: one for one in found if "(?P<" not in one.pattern}


def counts() -> list[int]:
    rules = sum(len(tool.rules) for tool in Tool.objects.all())
    return [rules, *(model.objects.count() for model in MADE)]  # type: ignore[attr-defined]


def run_of(answer: Any) -> str:
    """The run that the answer is about: a replay's own, beside the one that it repeats."""
    body = answer.json()
    found = body.get("results", [body])[0]
    return str(found.get("replay_run_id") or found["metadata"]["run_id"])


@pytest.fixture
def send(world: World, admin: User) -> Callable[..., Any]:
    """Sends a body to a route: as an agent that manages the hub, or as `owner`, whose runs there are."""
    manages = persona_create(by=admin, name="manager")
    for capability in ("toolhub:packages", "toolhub:personas", "file"):
        grant_create(by=admin, persona=manages, capability=capability, reason="manages the hub")
    assignment_create(by=admin, persona=manages, package=Package.objects.get(name="fixture"))
    signing_secret_create(by=admin, persona=Persona.objects.get(name="researcher"))
    manager = token_create(by=admin, persona=manages, name="manager")[1]

    def post(name: str, body: Any, key: str | None = None, token: str = "", **more: Any) -> Any:
        token = token or (world.tokens["owner"] if name in RUNS or name == "api_webhooks" else manager)
        headers = {"HTTP_AUTHORIZATION": f"Bearer {token}", **more}
        headers |= {} if key is None else {"HTTP_IDEMPOTENCY_KEY": key}
        headers.setdefault("content_type", "application/json")
        return Client().post(world.address(posting()[name]), body, **headers)

    return post


def test_each_post_is_known() -> None:
    known = [*BODIES, *RUNS, *CREATES_NOTHING]
    assert len(known) == len(set(known))
    assert posting().keys() == set(known), "Say in BODIES what a new one sends, or why it creates nothing."


def test_each_that_creates_is_described_with_its_key(world: World) -> None:
    for name, route in posting().items():
        path = "/" + route.pattern
        for kind in ("str", "int", "uuid", "path"):
            path = path.replace(f"<{kind}:", "{")
        path = path.replace(">", "}").replace("{pk}", "{id}")
        described = DESCRIPTION["paths"][path]["post"]
        headers = [one["name"] for one in described.get("parameters", ()) if one["in"] == "header"]
        assert ("Idempotency-Key" in headers) == (name in BODIES or name in RUNS), name
        assert getattr(route.view.post, "creates", False) == (name in BODIES), name


def test_each_creates_once_for_a_key(send: Callable[..., Any], subtests: Any) -> None:
    for name, (body, other) in BODIES.items():
        with subtests.test(name), transaction.atomic():
            before = counts()
            first = send(name, body, "k" * 255)
            assert first.status_code in {201, 202}, first.json()
            assert "Idempotency-Replayed" not in first
            after, events = counts(), Event.objects.count()
            assert after != before
            again = send(name, body, "k" * 255)
            expected = {**first.json(), **({SHOWN_ONCE[name]: None} if name in SHOWN_ONCE else {})}
            assert (again.status_code, again.json()) == (first.status_code, expected)
            assert again["Idempotency-Replayed"] == "true"
            assert again.get("Location") == first.get("Location")
            assert (counts(), Event.objects.count()) == (after, events)
            conflict = send(name, other, "k" * 255)
            assert (conflict.status_code, conflict.json()["error"]["code"]) == (409, "IDEMPOTENCY_CONFLICT")
            assert (counts(), Event.objects.count()) == (after, events)
            assert send(name, other, "another").status_code == first.status_code
            assert counts() != after
            transaction.set_rollback(True)


def test_each_that_makes_a_run_makes_one_for_a_key(send: Callable[..., Any], subtests: Any) -> None:
    for name, (body, other) in RUNS.items():
        with subtests.test(name), transaction.atomic():
            before = Run.objects.count()
            first = send(name, body, "k")
            assert first.status_code in {200, 202}, first.json()
            assert Run.objects.count() == before + 1
            again = send(name, body, "k")
            assert run_of(again) == run_of(first)
            assert Run.objects.count() == before + 1
            if other:
                assert send(name, other, "k").json()["error"]["code"] == "IDEMPOTENCY_CONFLICT"
            transaction.set_rollback(True)


def test_no_secret_is_kept(send: Callable[..., Any]) -> None:
    text = send("api_tokens", {"name": "laptop"}, "k").json()["token"]
    assert text.startswith("thp_")
    assert text not in Submission.objects.get().answer


def test_a_refused_request_leaves_its_key_unused(send: Callable[..., Any]) -> None:
    assert send("api_limits", {**QUOTA, "amount": 0}, "k").status_code == 422
    assert not Submission.objects.exists()
    assert send("api_limits", QUOTA, "k").status_code == 201


@pytest.mark.parametrize("key", ["", "k" * 256])
def test_a_key_that_does_not_fit_is_refused(send: Callable[..., Any], key: str) -> None:
    answer = send("api_limits", QUOTA, key)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/Idempotency-Key"
    assert Limit.objects.count() == 1  # the world's


def test_json_counts_by_its_meaning_and_a_query_counts(send: Callable[..., Any]) -> None:
    first = send("api_limits", json.dumps(QUOTA, indent=4), "k")
    assert send("api_limits", dict(reversed(QUOTA.items())), "k").json() == first.json()
    assert Limit.objects.count() == 2
    zipped = packages.zipped("1.0.0", name="quotes", tools=[packages.tool("quote")])
    upload = {"content_type": "application/zip"}
    first = send("api_installations", zipped, "z", **upload)
    assert first.status_code == 202, first.json()
    assert send("api_installations", zipped, "z", **upload).json() == first.json()
    other = packages.zipped("1.0.1", name="quotes", tools=[packages.tool("quote")])
    assert send("api_installations", other, "z", **upload).status_code == 409
    assert send("api_installations", zipped, "z", QUERY_STRING="team=a", **upload).status_code == 409


def test_a_key_is_of_one_persona_and_the_person_responsible(
    send: Callable[..., Any], admin: User, subtests: Any
) -> None:
    assert send("api_limits", QUOTA, "k").status_code == 201
    manager = Persona.objects.get(name="manager")
    other = User.objects.create_superuser("boss")
    sameness = {
        "another token of the same": (token_create(by=admin, persona=manager, name="second")[1], True),
        "another person": (token_create(by=other, persona=manager, name="third")[1], False),
    }
    for name, (token, same) in sameness.items():
        with subtests.test(name):
            before = Limit.objects.count()
            assert send("api_limits", QUOTA, "k", token=token).status_code == 201
            assert (Limit.objects.count() == before) is same


def test_a_key_is_over_after_a_day_also_where_no_steward_deleted_it(send: Callable[..., Any]) -> None:
    first = send("api_limits", QUOTA, "k").json()
    Submission.objects.update(created_at=timezone.now() - timedelta(hours=23))
    assert send("api_limits", QUOTA, "k").json() == first
    assert submissions_expire() == 0
    Submission.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))
    other = send("api_limits", {**QUOTA, "amount": 7}, "k")
    assert (other.status_code, other.json()["amount"]) == (201, 7)
    assert send("api_limits", {**QUOTA, "amount": 7}, "k").json() == other.json()
    Submission.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))
    assert submissions_expire() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_at_the_same_time_one_creates(send: Callable[..., Any]) -> None:
    start = Barrier(2)

    def work(_: int) -> Any:
        start.wait()
        answer = send("api_limits", QUOTA, "k")
        connection.close()
        return answer

    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(work, range(2)))
    assert [one.status_code for one in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert Limit.objects.count() == 2
