"""A second factor: added by its owner, asked for at the sign-in, sealed in the database, taken away by an admin."""

import base64
import hashlib
import hmac
import struct
import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.test import Client

from audit.models import Event
from core.errors import Conflict, Denied
from security.models import User
from security.second_factor import has_second_factor, second_factor_remove

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def code_of(key: str, step: int = 0) -> str:
    """RFC 6238, written anew here: HMAC-SHA1 over the half minute, six digits."""
    counter = struct.pack(">Q", int(time.time()) // 30 + step)
    digest = hmac.new(base64.b32decode(key), counter, hashlib.sha1).digest()
    at = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[at : at + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def signed_in(name: str) -> tuple[Client, Any]:
    client = Client()
    return client, client.post("/sign-in/", {"login": name, "password": PASSWORD})


@pytest.fixture
def added(admin: User) -> tuple[Client, str]:
    """The admin's browser after adding a second factor, and its key."""
    client, _ = signed_in("admin")
    asked = client.get("/account/factor/add/")["Location"]
    assert "Is it you?" in client.get(asked).content.decode()
    assert client.post(asked, {"password": "wrong"}).status_code == 200
    assert client.post(asked, {"password": PASSWORD})["Location"] == "/account/factor/add/"
    page = client.get("/account/factor/add/")
    assert page.status_code == 200, page.get("Location")
    key = page.context["form"].secret
    assert key in page.content.decode()
    refused = client.post("/account/factor/add/", {"code": "000000"})
    assert refused.context["form"].errors
    assert client.post("/account/factor/add/", {"code": code_of(key)}).status_code == 302
    return client, key


def test_the_password_alone_does_not_let_in_any_more(added: tuple[Client, str], admin: User) -> None:
    client, answer = signed_in("admin")
    assert answer["Location"] == "/account/code/"
    assert client.get("/account/")["Location"].startswith("/sign-in/")
    assert "code that your app shows" in client.get("/account/code/").content.decode()
    wrong = client.post("/account/code/", {"code": "000000"})
    assert wrong.status_code == 200
    assert "This code does not fit. Write what the app shows now" in wrong.content.decode()
    assert client.get("/account/")["Location"].startswith("/sign-in/")
    # The code of now was used to add it.
    assert client.post("/account/code/", {"code": code_of(added[1], 1)}).status_code == 302
    assert client.get("/account/").status_code == 200


def test_whoever_signed_in_before_has_to_again(admin: User) -> None:
    other, _ = signed_in("admin")
    client, _ = signed_in("admin")
    asked = client.get("/account/factor/add/")["Location"]
    client.post(asked, {"password": PASSWORD})
    key = client.get("/account/factor/add/").context["form"].secret
    client.post("/account/factor/add/", {"code": code_of(key)})
    assert client.get("/account/").status_code == 200
    assert other.get("/account/").status_code == 302
    # Taken away by an admin: nobody stays in.
    second_factor_remove(by=admin, person=User.objects.get(pk=admin.pk))
    assert client.get("/account/").status_code == 302


def test_a_code_to_recover_by_lets_in_once(added: tuple[Client, str]) -> None:
    codes = added[0].get("/account/factor/codes/").context["unused_codes"]
    assert len(codes) == 10
    client, _ = signed_in("admin")
    assert client.post("/account/code/", {"code": codes[0]}).status_code == 302
    assert client.get("/account/").status_code == 200
    again, _ = signed_in("admin")
    again.post("/account/code/", {"code": codes[0]})
    assert again.get("/account/")["Location"].startswith("/sign-in/")


def test_its_key_is_sealed_and_sealed_anew(added: tuple[Client, str], settings: Any) -> None:
    rows = Authenticator.objects.all()
    assert not any(added[1] in str(row.data) for row in rows)
    settings.VAULT_KEYS = [Fernet.generate_key().decode(), *settings.VAULT_KEYS]
    call_command("vault_rotate", verbosity=0)
    settings.VAULT_KEYS = settings.VAULT_KEYS[:1]
    client, _ = signed_in("admin")
    assert client.post("/account/code/", {"code": code_of(added[1], 1)}).status_code == 302


def test_its_owner_takes_it_away(added: tuple[Client, str], admin: User) -> None:
    assert added[0].get("/account/factor/remove/").status_code == 200
    assert added[0].post("/account/factor/remove/").status_code == 302
    assert not has_second_factor(admin)
    _, answer = signed_in("admin")
    assert answer["Location"] == "/"
    kinds = set(Event.objects.filter(subject_kind="person").values_list("kind", flat=True))
    assert {"person.second_factor_added", "person.second_factor_removed"} <= kinds


def test_an_admin_takes_it_from_who_lost_it(viewer: User, admin: User, eyes: Client) -> None:
    Authenticator.objects.create(user=viewer, type="totp", data={"secret": "x"})
    assert "With a second factor" in eyes.get("/people/viewer/").content.decode()
    assert eyes.post("/people/viewer/factor/").status_code == 302
    assert not has_second_factor(viewer)
    with pytest.raises(Conflict):
        second_factor_remove(by=admin, person=viewer)
    with pytest.raises(Denied):
        second_factor_remove(by=viewer, person=admin)
