"""Private repositories by ssh: with a key from the vault or the settings, to the server that is known."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.models import Event
from core.actors import SYSTEM
from core.errors import Denied, InvalidRequest
from registry.installations.models import Installation
from registry.installations.services import installation_get, installation_start
from registry.installations.source_form import Source
from registry.installations.sources.git_credentials import credential_remove
from registry.installations.sources.git_keys import key_set
from registry.installations.sources.git_test import credential_test
from registry.installations.worker import installations_work
from security.models import Secret, User
from security.secret_tests import Report
from tests.installations import packages
from tests.installations.git_server import repository
from tests.installations.ssh_server import USER, SshServer, ssh_serving

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----"
HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIdQ2gWm"


@pytest.fixture(scope="module")
def server() -> Iterator[SshServer]:
    with ssh_serving() as made:
        yield made


@pytest.fixture
def fetch(admin: User, server: SshServer, settings: Any, tmp_path: Path) -> Callable[..., Installation]:
    """Brings the repository `r` as far as its review, or its failure."""
    settings.HTTP_ALLOW = [f"127.0.0.1:{server.port}"]

    def act(ref: str = "v1.0.0") -> Installation:
        location = f"ssh://{USER}@127.0.0.1:{server.port}{tmp_path / 'r'}"
        one = installation_start(by=admin, source=Source("git", location, ref))
        installations_work()
        return installation_get(str(one.pk))

    return act


@pytest.fixture
def commit(tmp_path: Path) -> str:
    """Of the tag v1.0.0, which is not the newest."""
    made = repository(tmp_path / "r", packages.files(), "v1.0.0")
    repository(tmp_path / "r", packages.files("1.1.0"))
    return made


def said(one: Installation) -> str:
    return "\n".join([*(line.text for line in one.lines.all()), str(one.error), str(one.report)])


def test_a_tag_comes_with_a_key_from_the_vault_pinned_to_its_commit(
    server: SshServer, fetch: Callable[..., Installation], commit: str
) -> None:
    without = fetch()
    assert without.error["code"] == "SOURCE_FAILED"
    assert f"no ssh key for ssh://127.0.0.1:{server.port}" in without.error["message"]
    address = f"ssh://127.0.0.1:{server.port}"
    key_set(by=SYSTEM, server=address, key=server.key, host_keys=f"127.0.0.1 {server.host_key} comment")
    one = fetch()
    assert one.status == "awaiting_review", said(one)
    assert (one.report["commit"], one.version) == (commit, "1.0.0")
    assert server.key.splitlines()[1] not in said(one) + Secret.objects.get().sealed
    assert credential_remove(by=SYSTEM, server=address)
    assert fetch().status == "failed"


def test_a_tag_comes_with_the_key_of_the_settings(
    server: SshServer, fetch: Callable[..., Installation], commit: str, settings: Any
) -> None:
    settings.GIT_SSH_KEY, settings.GIT_KNOWN_HOSTS = server.key, f"127.0.0.1 {server.host_key}"
    one = fetch()
    assert one.status == "awaiting_review", said(one)
    assert one.report["commit"] == commit


def test_another_server_than_the_known_one_is_given_nothing(
    server: SshServer, fetch: Callable[..., Installation], commit: str
) -> None:
    with ssh_serving() as other:
        pass
    address = f"ssh://127.0.0.1:{server.port}"
    key_set(by=SYSTEM, server=address, key=server.key, host_keys=other.host_key)
    one = fetch()
    assert one.error["code"] == "SOURCE_FAILED"
    assert "Host key verification failed" in said(one)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("server", "https://example.org"),
        ("server", "ssh://git@example.org"),
        ("server", "ssh://-oProxyCommand=x"),
        ("key", "no key"),
        ("key", KEY.replace("AAAA", "AA AA;")),
        ("host_keys", ""),
        ("host_keys", "ssh-ed25519"),
        ("host_keys", f"@cert-authority * {HOST_KEY}"),
    ],
)
def test_what_is_no_key_is_refused_at_its_field_and_not_repeated(field: str, value: str) -> None:
    good = {"server": "ssh://example.org", "key": KEY, "host_keys": HOST_KEY}
    with pytest.raises(InvalidRequest) as refused:
        key_set(by=SYSTEM, **{**good, field: value})
    assert refused.value.errors[0]["pointer"] == f"/{field}"
    assert field != "key" or value not in str(refused.value.as_error())


def test_keys_are_set_by_whom_may(viewer: User) -> None:
    with pytest.raises(Denied):
        key_set(by=viewer, server="ssh://example.org", key=KEY, host_keys=HOST_KEY)


def test_a_key_is_tested_at_a_repository(
    server: SshServer, commit: str, settings: Any, admin: User, tmp_path: Path
) -> None:
    settings.HTTP_ALLOW = [f"127.0.0.1:{server.port}"]
    address = f"ssh://127.0.0.1:{server.port}"
    with ssh_serving() as other:
        pass

    def report(path: str, key: str = server.key, host_keys: str = server.host_key) -> Report:
        key_set(by=SYSTEM, server=address, key=key, host_keys=host_keys)
        location = f"ssh://{USER}@127.0.0.1:{server.port}{path}" if path else ""
        return credential_test(by=admin, secret=Secret.objects.get(), repository=location).carry_out()

    right = report(f"{tmp_path / 'r'}")
    assert (right.result, right.secrets[0].state) == ("accepted", "ok"), right.message
    assert "Ed25519; its public key is SHA256:" in str(right.secrets)
    gone = report(f"{tmp_path / 'none'}")
    assert gone.result == "unclear", gone.message
    assert "accepted the key and gave no repository" in gone.message
    assert report(f"{tmp_path / 'r'}", key=other.key).result == "refused"
    stranger = report(f"{tmp_path / 'r'}", host_keys=other.host_key)
    assert stranger.result == "unreachable"
    assert "another public key than those that were set" in stranger.message
    broken = report("", key=KEY)
    assert (broken.result, broken.secrets[0].state) == ("invalid", "invalid")
    settings.HTTP_ALLOW = []
    assert report(f"{tmp_path / 'r'}").result == "unreachable"
    everything = "".join(Event.objects.filter(kind="secret.tested").values_list("canonical", flat=True))
    assert not [line for line in server.key.splitlines()[1:-1] if line in everything]


def test_a_server_that_is_not_there_is_told(settings: Any, admin: User, server: SshServer) -> None:
    with ssh_serving() as gone:
        pass
    settings.HTTP_ALLOW = [f"127.0.0.1:{gone.port}"]
    address = f"ssh://127.0.0.1:{gone.port}"
    key_set(by=SYSTEM, server=address, key=gone.key, host_keys=gone.host_key)
    location = f"ssh://{USER}@127.0.0.1:{gone.port}/r"
    report = credential_test(by=admin, secret=Secret.objects.get(), repository=location).carry_out()
    assert report.result == "unreachable"
    assert "gave no answer" in report.message
