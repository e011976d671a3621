"""Approvals over REST: an agent tells what its responsible person decided."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from audit.models import Event
from execution.models import Approval
from security.models import User
from security.policy.tiers import tier_change, tier_create, tier_set
from security.services import grant_create, persona_create, token_create
from tests.execution.approvals.conftest import now_of

pytestmark = pytest.mark.django_db
Ask = Callable[..., Approval]
Bot = Callable[..., Any]


@pytest.fixture
def bot(admin: User, people: Any, client: Client) -> Bot:
    """An agent of bo, who may approve: `bot("get", "")`, `bot("post", "/ID/deny", {...})`."""
    bo = people("bo", "execution.approve_run", "security.add_token")
    persona = persona_create(by=admin, name="bot")
    grant_create(by=admin, persona=persona, capability="toolhub:approvals", reason="tells decisions")
    _, text = token_create(by=bo, persona=persona, name="chat")

    def ask(method: str, path: str, body: Any = None) -> Any:
        headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {text}"}
        if method == "get":
            return client.get(f"/api/v1/approvals{path}", **headers)
        return client.post(f"/api/v1/approvals{path}", body, content_type="application/json", **headers)

    return ask


def test_the_list_has_the_exact_calls_the_oldest_first(
    asked: Ask, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = asked({"n": 1}), asked({"n": 2})
    body = bot("get", "").json()
    assert [one["id"] for one in body["approvals"]] == [str(first.pk), str(second.pk)]
    assert body["approvals"][0]["arguments"] == {"value": {"n": 1}}
    assert (body["approvals"][0]["persona"], body["approvals"][0]["responsible"]) == ("researcher", "admin")
    assert body["next"] is None
    monkeypatch.setattr("execution.features.approvals.api.PAGE", 1)
    cursor = bot("get", "").json()["next"]
    assert [one["id"] for one in bot("get", f"?after={cursor}").json()["approvals"]] == [str(second.pk)]
    assert bot("get", "?after=x").status_code == 422


def test_a_decision_is_told_by_the_agent_and_stands_for_the_person(asked: Ask, bot: Bot) -> None:
    approval, other = asked(1), asked(2)
    answer = bot("post", f"/{approval.pk}/approve", {"reason": "fine"})
    assert (answer.status_code, answer.json()["decision"], answer.json()["decided_by"]) == (
        200,
        "approved",
        "bo",
    )
    assert now_of(approval) == ("pending", "approved")
    event = Event.objects.get(kind="approval.approved")
    assert event.actor_name == "bot"
    assert '"by":"bo"' in event.canonical
    assert bot("post", f"/{approval.pk}/deny", {"reason": "no"}).status_code == 409
    assert bot("post", f"/{other.pk}/deny", {"reason": "no"}).json()["decision"] == "denied"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("deny", {}, 422),
        ("deny", {"reason": ""}, 422),
        ("approve", {"hours": 0}, 422),
        ("approve", {"more": 1}, 422),
        ("approve", {"hours": 4, "reason": "x"}, 403),
        ("delegate", {"to": "nobody"}, 422),
        ("delegate", {"to": "a\0b"}, 422),
        ("delegate", {"to": "admin"}, 403),
        ("delegate", [], 422),
    ],
)
def test_what_cannot_be_is_refused(asked: Ask, bot: Bot, path: str, body: Any, status: int) -> None:
    approval = asked()
    assert bot("post", f"/{approval.pk}/{path}", body).status_code == status
    assert now_of(approval) == ("awaiting_approval", "")


def test_what_is_not_there_is_404(bot: Bot) -> None:
    assert bot("get", f"/{uuid4()}").status_code == 404
    assert bot("post", f"/{uuid4()}/deny", {"reason": "x"}).status_code == 404


def test_an_agent_without_the_capability_sees_nothing(asked: Ask, client: Client, token_text: str) -> None:
    approval = asked()
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    for path in ("", f"/{approval.pk}"):
        answer = client.get(f"/api/v1/approvals{path}", **headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "CAPABILITY_MISSING")


@pytest.mark.parametrize("capability", ["*", "toolhub", "toolhub:*"])
def test_only_a_grant_by_name_lets_an_agent_decide(
    asked: Ask, client: Client, people: Any, admin: User, capability: str
) -> None:
    asked()
    persona = persona_create(by=admin, name="bot")
    tier = tier_create(by=admin, name="pro")
    tier_change(by=admin, tier=tier, capabilities=["toolhub"])
    tier_set(by=admin, persona=persona, tier=tier)
    _, text = token_create(
        by=people("bo", "execution.approve_run", "security.add_token"), persona=persona, name="t"
    )
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {text}"}
    assert client.get("/api/v1/approvals", **headers).json()["error"]["code"] == "CAPABILITY_MISSING"
    grant_create(by=admin, persona=persona, capability=capability, reason="r")
    assert client.get("/api/v1/approvals", **headers).status_code == (403 if capability == "*" else 200)


def test_a_caller_does_not_decide_on_its_own_calls(
    asked: Ask, client: Client, token_text: str, admin: User
) -> None:
    approval = asked()
    persona = approval.run.persona
    grant_create(by=admin, persona=persona, capability="toolhub:approvals", reason="oops")
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    answer = client.post(
        f"/api/v1/approvals/{approval.pk}/approve", {}, content_type="application/json", **headers
    )
    assert answer.status_code == 403
    assert now_of(approval) == ("awaiting_approval", "")
