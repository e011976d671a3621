"""Keys: a process that lacks a key of the hub does not start, and rotation and backups go on working."""

import base64
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from audit.models import Event
from core.actors import SYSTEM
from security.keys import KeysMissing, fingerprint, keys_problem, keys_record
from security.models import KeyFingerprint
from security.vault import secret_set, secrets_read

pytestmark = pytest.mark.django_db
OLD, NEW, OTHER = (base64.urlsafe_b64encode(bytes([n]) * 32).decode() for n in (1, 2, 3))


@pytest.fixture(autouse=True)
def keys(settings: Any) -> Any:
    """A hub whose first process has started with the key OLD."""
    settings.VAULT_KEYS = [OLD]
    settings.SECRET_KEY = "a" * 40
    keys_record()
    return settings


def test_a_process_without_the_vaults_key_is_refused_and_hears_what_to_do(keys: Any) -> None:
    keys.VAULT_KEYS = [OTHER]
    with pytest.raises(KeysMissing) as refused:
        keys_record()
    for words in (fingerprint("vault", OLD), fingerprint("vault", OTHER), "TOOLHUB_VAULT_KEYS", "vault_key"):
        assert words in str(refused.value)
    assert OLD not in str(refused.value)
    assert KeyFingerprint.objects.count() == 2


def test_a_process_with_another_secret_key_is_refused(keys: Any) -> None:
    keys.SECRET_KEY = "b" * 40
    with pytest.raises(KeysMissing, match="TOOLHUB_SECRET_KEY"):
        keys_record()


@pytest.mark.usefixtures("own_mask")
@pytest.mark.parametrize("name", ["prepare", "web", "worker", "steward"])
def test_no_kind_of_process_starts_without_the_keys(
    name: str, keys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    monkeypatch.setattr("os.execv", lambda *command: begun.append(command[0]))
    keys.VAULT_KEYS = [OTHER]
    with pytest.raises(CommandError, match="fingerprint"):
        call_command("process", name)
    assert begun == []


def test_a_running_process_that_lacks_a_newer_key_is_not_ready(keys: Any, client: Client) -> None:
    assert client.get("/readyz").status_code == 200
    keys.VAULT_KEYS = [NEW, OLD]
    keys_record()
    keys.VAULT_KEYS = [OLD]
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert fingerprint("vault", NEW) in answer.content.decode()


def test_rotation_leaves_the_old_key_behind(keys: Any) -> None:
    secret_set(actor=SYSTEM, scope="git", name="a", value="a long secret")
    keys.VAULT_KEYS = [NEW, OLD]
    keys_record()
    keys.VAULT_KEYS = [NEW]
    assert keys_problem()
    keys.VAULT_KEYS = [NEW, OLD]
    call_command("vault_rotate")
    keys.VAULT_KEYS = [NEW]
    keys_record()
    assert secrets_read("git") == {"a": "a long secret"}
    keys.VAULT_KEYS = [OLD]
    assert fingerprint("vault", NEW) in keys_problem()


def test_a_restored_backup_starts_with_its_keys_and_with_newer_ones_before_them(keys: Any) -> None:
    for given in ([OLD], [NEW, OLD]):
        keys.VAULT_KEYS = given
        keys_record()


def test_keys_that_were_lost_are_replaced_by_a_command(keys: Any) -> None:
    keys.VAULT_KEYS, keys.SECRET_KEY = [OTHER], "b" * 40
    call_command("keys_adopt")
    keys_record()
    assert keys_problem() == ""
    assert Event.objects.filter(kind="keys.adopted").count() == 1


def test_a_database_from_before_takes_only_keys_that_open_its_secrets(keys: Any) -> None:
    secret_set(actor=SYSTEM, scope="git", name="a", value="a long secret")
    KeyFingerprint.objects.all().delete()
    keys.VAULT_KEYS = [OTHER]
    with pytest.raises(KeysMissing, match="no key of this process opens"):
        keys_record()
    keys.VAULT_KEYS = [OLD]
    keys_record()
