"""A persona's token: shown once, kept as a digest, and worth nothing once it is expired or revoked."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from audit.models import Event
from core.errors import Denied, InvalidRequest
from execution.models import Run
from security.models import Persona, Token, User
from security.services import persona_switch, token_create, token_revoke
from security.tokens import principal_find

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
LIST = "/api/v1/tools"


def get(client: Client, header: str | None) -> Any:
    return client.get(LIST, **({} if header is None else {"HTTP_AUTHORIZATION": header}))


def refused(response: Any, reason: str) -> None:
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == 'Bearer realm="toolhub"'
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    assert body["error"]["code"] == "UNAUTHENTICATED"
    assert reason in body["detail"]


def test_only_the_digest_of_a_token_is_kept(admin: User, persona: Persona) -> None:
    token, text = token_create(by=admin, persona=persona, name="ci")
    row = Token.objects.get(pk=token.pk)
    assert bytes(row.digest) == hashlib.sha256(text.encode()).digest()
    assert text.startswith(row.prefix)
    assert len(row.prefix) == 12
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            assert text not in repr(cursor.fetchall())


def test_a_token_has_256_random_bits_and_a_mark_that_scanners_find(admin: User, persona: Persona) -> None:
    texts = {token_create(by=admin, persona=persona, name="ci")[1] for _ in range(50)}
    assert len(texts) == 50
    assert all(len(text) == 4 + 43 and text.startswith("thp_") for text in texts)


def test_a_valid_token_is_the_persona(client: Client, token_text: str) -> None:
    assert get(client, f"Bearer {token_text}").status_code == 200
    assert get(client, f"bearer {token_text}").status_code == 200


def test_without_a_token_the_caller_is_asked_for_one(client: Client) -> None:
    refused(get(client, None), "")


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Bearer thp_short", "Bearer thp_" + "A" * 43, "Bearer thp_" + "é" * 43]
)
def test_an_unknown_token_is_refused(client: Client, header: str) -> None:
    refused(get(client, header), "The token is not known.")


@pytest.mark.parametrize("header", ["Basic YTpi", "Token x", "thp_" + "A" * 43, "Digest a=b"])
def test_another_scheme_is_refused(client: Client, header: str) -> None:
    refused(get(client, header), "must be `Bearer`")


def test_a_token_with_one_other_character_is_refused(client: Client, token_text: str) -> None:
    other = token_text[:-1] + ("A" if token_text[-1] != "A" else "B")
    refused(get(client, f"Bearer {other}"), "not known")
    refused(get(client, f"Bearer {token_text}x"), "not known")
    refused(get(client, f"Bearer {token_text} x"), "not known")


def test_an_expired_token_is_refused(client: Client, token_text: str) -> None:
    Token.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    refused(get(client, f"Bearer {token_text}"), "The token is expired. Ask admin for a new one.")


def test_a_revoked_token_is_refused_on_the_very_next_call(
    client: Client, admin: User, token_text: str, call: Call, assign: Callable[[str], None]
) -> None:
    assign("echo")
    assert call("echo", {"text": "a"}).status_code == 200
    token_revoke(by=admin, token=Token.objects.get())
    refused(call("echo", {"text": "a"}), "The token is revoked.")
    assert Run.objects.count() == 1


def test_a_token_whose_responsible_person_left_may_not_call(
    admin: User, call: Call, assign: Callable[[str], None]
) -> None:
    assign("echo")
    User.objects.filter(pk=admin.pk).update(is_active=False)
    response = call("echo", {"text": "a"})
    assert (response.status_code, response.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
    assert "responsible" in response.json()["detail"]
    assert not Run.objects.exists()


def test_a_persona_that_is_switched_off_may_not_call(
    admin: User, persona: Persona, call: Call, assign: Callable[[str], None]
) -> None:
    assign("echo")
    persona_switch(by=admin, persona=persona, on=False)
    response = call("echo", {"text": "a"})
    assert (response.status_code, response.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
    failed = [check["name"] for check in response.json()["decision"]["checks"] if check["verdict"] == "fail"]
    assert failed == ["persona"]
    persona_switch(by=admin, persona=persona, on=True)
    assert call("echo", {"text": "a"}).status_code == 200


def test_the_time_of_use_is_kept_to_the_minute(token_text: str) -> None:
    principal_find(token_text)
    first = Token.objects.get().last_used_at
    assert first is not None
    principal_find(token_text)
    assert Token.objects.get().last_used_at == first
    Token.objects.update(last_used_at=first - timedelta(minutes=2))
    principal_find(token_text)
    assert Token.objects.get().last_used_at != first - timedelta(minutes=2)


def test_a_refused_token_leaves_no_time_of_use(client: Client, token_text: str) -> None:
    Token.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    get(client, f"Bearer {token_text}")
    assert Token.objects.get().last_used_at is None


@pytest.mark.parametrize("days", [0, -1, 367])
def test_a_token_lives_from_1_to_366_days(admin: User, persona: Persona, days: int) -> None:
    with pytest.raises(InvalidRequest):
        token_create(by=admin, persona=persona, name="ci", days=days)
    assert not Token.objects.exists()


def test_who_may_not_make_tokens_makes_none(viewer: User, persona: Persona) -> None:
    before = Event.objects.count()
    with pytest.raises(Denied):
        token_create(by=viewer, persona=persona, name="ci")
    assert (Token.objects.count(), Event.objects.count()) == (0, before)


def test_making_and_revoking_are_recorded_without_the_token(admin: User, persona: Persona) -> None:
    token, text = token_create(by=admin, persona=persona, name="ci")
    token_revoke(by=admin, token=token)
    token_revoke(by=admin, token=token)
    events = list(Event.objects.filter(kind__startswith="token.").order_by("id"))
    assert [event.kind for event in events] == ["token.created", "token.revoked"]
    assert all(json.loads(event.canonical)["data"]["token"] == token.prefix for event in events)
    assert all(text not in event.canonical and text[12:] not in event.canonical for event in events)
