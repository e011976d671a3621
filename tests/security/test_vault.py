"""The vault: sealed, bound to its place, sealed anew under another key."""

from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command

from audit.models import Event
from core.actors import SYSTEM
from core.errors import InvalidRequest
from security.models import Persona, Secret, SigningSecret, User
from security.sealing import Unsealable
from security.signing import signing_keys, signing_secret_create
from security.vault import LEAST, MOST, secret_remove, secret_set, secrets_read

pytestmark = pytest.mark.django_db
OTHER = Fernet.generate_key().decode()


def put(scope: str = "package:weather", name: str = "api_key", value: str = "hunter2-hunter2") -> None:
    secret_set(actor=SYSTEM, scope=scope, name=name, value=value)


def test_a_secret_is_read_by_its_scope_alone() -> None:
    put()
    put("package:news", value="another-one")
    assert secrets_read("package:weather") == {"api_key": "hunter2-hunter2"}
    assert secrets_read("package:weather", ["nothing"]) == {}
    assert "hunter2" not in Secret.objects.get(scope="package:weather").sealed


def test_a_row_that_was_moved_to_another_place_does_not_open() -> None:
    put()
    Secret.objects.update(scope="package:mine")
    with pytest.raises(Unsealable):
        secrets_read("package:mine")


def test_the_newest_value_is_the_one_and_the_record_has_none() -> None:
    put()
    put(value="hunter3-hunter3")
    assert secrets_read("package:weather") == {"api_key": "hunter3-hunter3"}
    assert secret_remove(actor=SYSTEM, scope="package:weather") == 1
    events = Event.objects.filter(subject_kind="secret").order_by("pk")
    assert [event.kind for event in events] == ["secret.set", "secret.set", "secret.removed"]
    assert not any("hunter" in event.canonical for event in events)


@pytest.mark.parametrize("value", ["x" * (LEAST - 1), "x" * (MOST + 1), "nul\0nul\0nul", "\ud800" * 9])
def test_what_cannot_be_kept_is_refused_without_being_told(value: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        put(value=value)
    assert value not in str(refused.value.errors)


def test_what_a_pipe_does_not_hold_is_refused() -> None:
    for number in range(3):
        put(name=f"key{number}", value="x" * MOST)
    with pytest.raises(InvalidRequest):
        put(name="key3", value="x" * MOST)
    assert Secret.objects.count() == 3


def test_a_new_key_takes_over_what_the_old_one_sealed(admin: User, persona: Persona, settings: Any) -> None:
    put()
    signing_secret_create(by=admin, persona=persona)
    (signs,) = signing_keys(persona.pk)
    old = settings.VAULT_KEYS
    settings.VAULT_KEYS = [OTHER, *old]
    call_command("vault_rotate", verbosity=0)
    settings.VAULT_KEYS = [OTHER]
    assert secrets_read("package:weather") == {"api_key": "hunter2-hunter2"}
    assert signing_keys(persona.pk) == [signs]
    assert Event.objects.filter(kind="vault.rotated").count() == 1
    settings.VAULT_KEYS = old
    with pytest.raises(Unsealable):
        secrets_read("package:weather")


def test_what_no_key_opens_is_named_and_stays(settings: Any) -> None:
    put()
    before = Secret.objects.get().sealed
    settings.VAULT_KEYS = [OTHER]
    with pytest.raises(CommandError, match="package:weather api_key"):
        call_command("vault_rotate", verbosity=0)
    assert Secret.objects.get().sealed == before
    assert not SigningSecret.objects.exists()
