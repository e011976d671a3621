"""REST for limits."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission

from audit.models import Event
from core.errors import Denied, NotFound
from security.models import Grant, User
from security.policy.limits import limit_change, limit_create, limit_delete
from security.policy.models import Limit

pytestmark = pytest.mark.django_db
Manage = Callable[..., Any]
QUOTA = {"kind": "quota", "amount": 2, "window_s": 86_400}


def test_a_limit_is_made_counted_told_and_taken_away(
    manage: Manage, call: Callable[..., Any], assign: Callable[[str], None], admin: User
) -> None:
    assign("echo")
    made = manage("POST", "limits", **QUOTA, persona="researcher", tool="echo")
    assert made.status_code == 201
    assert (made.json()["measure"], made.json()["created_by"]) == ("calls", "admin")
    for _ in range(3):
        call("echo", {"text": "a"})
    (told,) = manage("GET", "personas/researcher").json()["limits"]
    assert (told["used"], told["amount"], told["words"]) == (2, 2, "2 calls a day")
    assert told["resets_at"]
    assert manage("GET", "limits?persona=researcher").json()["limits"] == [made.json()]
    assert call("echo", {"text": "a"}).status_code == 429
    answer = manage("POST", "decisions/simulate", persona="researcher", tool="echo").json()
    assert (answer["allowed"], answer["status"], answer["error"]["code"]) == (False, 429, "QUOTA_EXCEEDED")
    assert manage("DELETE", f"limits/{made.json()['id']}").status_code == 403
    limit_delete(by=admin, limit=Limit.objects.get())
    assert manage("DELETE", f"limits/{made.json()['id']}").status_code == 404
    assert call("echo", {"text": "a"}).status_code == 200
    assert Event.objects.filter(kind__in=["limit.created", "limit.deleted"]).count() == 2


def test_a_limit_is_tightened_by_an_agent_and_says_who_changed_it(manage: Manage, published: None) -> None:
    made = manage("POST", "limits", **QUOTA, tool="echo").json()
    assert (made["changed_by"], made["changed_at"]) == (None, None)
    answer = manage("PATCH", f"limits/{made['id']}", amount=1, window_s=90_000)
    assert answer.status_code == 200, answer.json()
    told = answer.json()
    assert (told["amount"], told["window_s"], told["kind"], told["tool"]) == (1, 90_000, "quota", "echo")
    assert told["changed_by"] == "admin"
    assert told == manage("GET", f"limits/{made['id']}").json()
    data = json.loads(Event.objects.get(kind="limit.changed").canonical)["data"]
    assert (data["before"], data["amount"]) == ({"amount": 2, "window_s": 86_400}, 1)
    again = manage("PATCH", f"limits/{made['id']}", amount=1)
    assert again.json() == told
    assert Event.objects.filter(kind="limit.changed").count() == 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"amount": 0}, "/amount"),
        ({"window_s": 10**9}, "/window_s"),
        ({"kind": "wish"}, "/kind"),
        ({"kind": "rate"}, "/kind"),
        ({"measure": "calls"}, "/measure"),
        ({"tool": "hash"}, "/tool"),
    ],
)
def test_a_change_that_does_not_fit_names_its_field(
    manage: Manage, published: None, body: dict[str, Any], pointer: str
) -> None:
    made = manage("POST", "limits", **QUOTA, tool="echo", measure="bytes").json()
    answer = manage("PATCH", f"limits/{made['id']}", **body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert not Event.objects.filter(kind="limit.changed").exists()


def test_a_person_who_may_not_delete_limits_tightens_one_and_does_not_loosen_it(
    published: None, admin: User
) -> None:
    person = User.objects.create_user("changes")
    person.user_permissions.set(Permission.objects.filter(codename="change_limit"))
    person = User.objects.get(pk=person.pk)
    limit = limit_create(by=admin, measure="calls", **QUOTA, tool="echo")  # type: ignore[arg-type]
    limit_change(by=person, limit=limit, amount=1)
    with pytest.raises(Denied, match=r"policy\.delete_limit"):
        limit_change(by=person, limit=limit, amount=2)
    assert Limit.objects.get().amount == 1
    limit_delete(by=admin, limit=limit)
    with pytest.raises(NotFound):
        limit_change(by=admin, limit=Limit(pk=limit.pk, kind="quota", tool="echo"), amount=3)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/tool"),
        ({"persona": "nobody"}, "/persona"),
        ({"tier": "none"}, "/tier"),
        ({"tool": "no_such"}, "/tool"),
        ({"tool": "echo", "amount": 0}, "/amount"),
        ({"tool": "echo", "window_s": 0}, "/window_s"),
        ({"tool": "echo", "kind": "rate", "measure": "bytes"}, "/measure"),
        ({"tool": "echo", "kind": "wish"}, "/kind"),
    ],
)
def test_a_limit_that_does_not_fit_is_told_where(
    manage: Manage, published: None, body: dict[str, Any], pointer: str
) -> None:
    answer = manage("POST", "limits", **{**QUOTA, **body})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert not Limit.objects.exists()


def test_without_the_capability_every_door_is_shut(manage: Manage, published: None) -> None:
    made = manage("POST", "limits", **QUOTA, tool="echo").json()
    Grant.objects.all().delete()
    for method, path, body in (
        ("GET", "limits", {}),
        ("POST", "limits", {**QUOTA, "tool": "hash"}),
        ("PATCH", f"limits/{made['id']}", {"amount": 1}),
        ("DELETE", f"limits/{made['id']}", {}),
    ):
        assert manage(method, path, **body).status_code == 403
    assert Limit.objects.count() == 1
