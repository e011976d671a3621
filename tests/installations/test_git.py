"""Packages from git: pinned to a commit, read without a checkout; what could act is refused."""

from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from core.actors import SYSTEM
from core.errors import InvalidRequest, ToolHubError
from core.http import names
from core.http.client import tls_context
from registry.installations.models import Installation
from registry.installations.services import installation_get, installation_start
from registry.installations.source_form import Source
from registry.installations.sources.git_address import address_check
from registry.installations.sources.git_credentials import credential_set
from registry.installations.sources.git_test import credential_test, server_of
from registry.installations.worker import installations_work
from security.models import Secret, User
from security.secret_tests import Report
from tests.forms import form_on
from tests.installations import packages
from tests.installations.git_bomb import bomb
from tests.installations.git_server import certificate, git, repository, serving

pytestmark = pytest.mark.django_db(transaction=True)
Fetch = Callable[..., Installation]


@pytest.fixture
def fetch_git(admin: User) -> Fetch:
    """Brings a repository as far as its review, or its failure."""

    def act(location: str, ref: str = "", path: str = "") -> Installation:
        one = installation_start(by=admin, source=Source("git", location, ref, path))
        installations_work()
        return installation_get(str(one.pk))

    return act


@pytest.fixture
def files_allowed(settings: Any) -> None:
    settings.GIT_FILES = True


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A certificate that this test's git trusts."""
    made = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made[0]))
    return made


@pytest.fixture
def server(tmp_path: Path, tls: tuple[Path, Path], settings: Any) -> Iterator[str]:
    """A server on this machine that the admin allows."""
    settings.HTTP_ALLOW = ["127.0.0.1"]
    with serving(tmp_path / "root", tls) as address:
        yield address


def said(one: Installation) -> str:
    return "\n".join([*(line.text for line in one.lines.all()), str(one.error)])


def test_a_tag_a_branch_and_a_commit_are_pinned_to_their_commit(
    files_allowed: None, fetch_git: Fetch, tmp_path: Path
) -> None:
    first = repository(tmp_path / "r", packages.files("1.0.0"), "v1.0.0")
    second = repository(tmp_path / "r", packages.files("1.1.0"))
    address = f"file://{tmp_path / 'r'}"
    for ref, commit, version in (
        ("v1.0.0", first, "1.0.0"),
        ("main", second, "1.1.0"),
        ("", second, "1.1.0"),
        (second, second, "1.1.0"),
    ):
        one = fetch_git(address, ref)
        assert one.status == "awaiting_review", said(one)
        assert (one.report["commit"], one.version) == (commit, version)


def test_a_folder_of_a_repository_is_a_package_too(
    files_allowed: None, fetch_git: Fetch, tmp_path: Path
) -> None:
    inside = {f"tools/greetings/{path}": content for path, content in packages.files().items()}
    repository(tmp_path / "r", {**inside, "README": b"more"})
    one = fetch_git(f"file://{tmp_path / 'r'}", path="tools/greetings")
    assert (one.status, one.report["files"]) == ("awaiting_review", 2), said(one)
    assert fetch_git(f"file://{tmp_path / 'r'}", path="tools/none").error["code"] == "SOURCE_FAILED"


def test_git_gives_the_same_digest_as_a_zip(
    files_allowed: None, fetch_git: Fetch, fetch: Fetch, tmp_path: Path
) -> None:
    repository(tmp_path / "r", packages.files())
    assert fetch_git(f"file://{tmp_path / 'r'}").digest == fetch().digest


def test_over_https_by_smart_http(server: str, fetch_git: Fetch, tmp_path: Path) -> None:
    commit = repository(tmp_path / "root" / "r.git", packages.files(), "v1")
    one = fetch_git(f"{server}/r.git/.git", "v1")
    assert one.status == "awaiting_review", said(one)
    assert one.report["commit"] == commit


def test_credentials_go_to_their_own_host_and_stand_nowhere(
    tls: tuple[Path, Path], settings: Any, fetch_git: Fetch, tmp_path: Path
) -> None:
    repository(tmp_path / "root" / "r.git", packages.files())
    settings.HTTP_ALLOW = ["127.0.0.1"]
    with serving(tmp_path / "root", tls, login="hub:swordfish-7") as address:
        location = f"{address}/r.git/.git"
        assert fetch_git(location).error["code"] == "SOURCE_FAILED"
        settings.GIT_CREDENTIALS = [
            "https://hub:other-secret-8@example.org",
            address.replace("https://", "https://hub:swordfish-7@"),
        ]
        one = fetch_git(location)
        settings.GIT_CREDENTIALS = []
        assert fetch_git(location).error["code"] == "SOURCE_FAILED"
        credential_set(by=SYSTEM, server=address, user="hub", password="swordfish-7")
        kept = fetch_git(location)
    for done in (one, kept):
        assert done.status == "awaiting_review", said(done)
        assert "swordfish" not in said(done) + str(done.report)


def test_credentials_are_tested_at_a_repository(
    tls: tuple[Path, Path], settings: Any, admin: User, client: Client, tmp_path: Path
) -> None:
    """At one that the server hides; where everybody may read, the answer says nothing of them."""
    tls_context.cache_clear()
    repository(tmp_path / "root" / "r.git", packages.files())
    settings.HTTP_ALLOW = ["127.0.0.1"]

    def report(address: str, password: str, path: str = "/r.git/.git") -> Report:
        credential_set(by=SYSTEM, server=address, user="hub", password=password)
        secret = Secret.objects.get(name=address)
        return credential_test(by=admin, secret=secret, repository=path and address + path).carry_out()

    with (
        serving(tmp_path / "root", tls, login="hub:swordfish-7") as address,
        serving(tmp_path / "root", tls) as everybody,
    ):
        right = report(address, "swordfish-7")
        assert (right.result, right.status) == ("accepted", 200), right.message
        wrong = report(address, "swordfish-8")
        assert (wrong.result, wrong.status) == ("refused", 401), wrong.message
        assert "let this user" not in right.message
        gone = report(address, "swordfish-7", "/none.git")
        assert (gone.result, gone.status) == ("unclear", 404)
        assert "no such repository" in gone.message
        assert report(everybody, "swordfish-7").result == "unclear"
        assert report(address, "swordfish-7", "").result == "untested"
        with pytest.raises(InvalidRequest, match="no other server gets these credentials"):
            credential_test(by=admin, secret=Secret.objects.first(), repository="https://example.org/r")
        secret = Secret.objects.get(name=address)
        page, eyes = f"/settings/secrets/{secret.pk}/test/", client
        eyes.force_login(admin)
        assert page in eyes.get("/settings/secrets/").content.decode()
        form = form_on(eyes, page)
        assert form.fields["repository"] == [""]
        answer = form.send(eyes, repository="https://example.org/r")
        assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["repository"])
        assert form.send(eyes, repository=f"{address}/r.git/.git")["Location"] == page
        body = eyes.get(page).content.decode()
        assert "refuses it without credentials (401)" in body
        assert "by admin" in body
    settings.HTTP_ALLOW = []
    refused = report(address, "swordfish-7")
    assert refused.result == "unreachable"
    assert "TOOLHUB_HTTP_ALLOW" in refused.message
    told = "".join(Event.objects.filter(kind="secret.tested").values_list("canonical", flat=True))
    assert "swordfish" not in told + body


@pytest.mark.parametrize(
    ("location", "server"),
    [
        ("https://code.example.org/a/b.git", "https://code.example.org"),
        ("https://Code.Example.org:443/a", "https://code.example.org"),
        ("https://code.example.org:8443/a", "https://code.example.org:8443"),
        ("http://127.0.0.1/a", "http://127.0.0.1"),
        ("ssh://git@code.example.org/a/b.git", "ssh://code.example.org"),
        ("ssh://git@code.example.org:22/a", "ssh://code.example.org"),
        ("ssh://git@code.example.org:2222/a", "ssh://code.example.org:2222"),
        ("git@code.example.org:a/b.git", "ssh://code.example.org"),
        ("file:///tmp/r", ""),
        ("nothing", ""),
        ("https://", ""),
    ],
)
def test_a_repository_names_its_server(location: str, server: str) -> None:
    assert server_of(location) == server


def test_a_redirect_is_not_followed(
    tls: tuple[Path, Path], settings: Any, fetch_git: Fetch, tmp_path: Path
) -> None:
    repository(tmp_path / "root" / "r.git", packages.files())
    settings.HTTP_ALLOW = ["127.0.0.1"]
    with (
        serving(tmp_path / "root", tls) as target,
        serving(tmp_path / "root", tls, redirect=target) as address,
    ):
        assert fetch_git(f"{address}/r.git/.git").error["code"] == "SOURCE_FAILED"


REFUSED = [
    "--upload-pack=touch /tmp/pwned",
    "-oProxyCommand=touch /tmp/pwned",
    "ext::sh -c touch% /tmp/pwned",
    "fd::3",
    "file:///etc",
    "/etc",
    "http://example.org/r.git",
    "git://example.org/r.git",
    "https://user:password@example.org/r.git",
    "ssh://-oProxyCommand=x/r",
    "ssh://git@-oProxyCommand=x/r",
    "git@example.org:-x; touch /tmp/pwned",
    "https://example.org/r.git\n--upload-pack=x",
    "https://example.org/r.git#x",
    "https://example.org/r.git?token=x",
]


@pytest.mark.parametrize("location", REFUSED)
def test_an_address_that_is_more_than_an_address_is_refused(fetch_git: Fetch, location: str) -> None:
    with pytest.raises(ToolHubError) as refused:
        fetch_git(location)
    assert refused.value.code == "SOURCE_REFUSED"
    assert not Installation.objects.exists()


SSH = [
    ("ssh://git@code.example.org/team/r.git", 22),
    ("ssh://git@code.example.org:2222/team/r.git", 2222),
    ("ssh://git@code.example.org/~team/r.git", 22),
    ("git@code.example.org:team/r.git", 22),
    ("git@code.example.org:2222/r.git", 22),
]


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A public address for every name."""
    monkeypatch.setattr(names, "_resolve", lambda host, seconds: [ip_address("93.184.216.34")])


@pytest.mark.parametrize(("location", "port"), SSH)
def test_an_address_by_ssh_is_given_to_git_as_it_is_and_its_own_port_is_guarded(
    location: str, port: int, settings: Any, resolved: None
) -> None:
    settings.HTTP_ALLOW = [f"code.example.org:{port}"]
    address = address_check(location)
    assert (address.scheme, address.address, address.host) == ("ssh", location, "code.example.org")
    assert address.port == port
    settings.HTTP_ALLOW = ["code.example.org:443"]
    if port == 22:
        assert address_check(location).port == 22
    else:
        with pytest.raises(ToolHubError) as refused:
            address_check(location)
        assert f"port {port}" in refused.value.message


@pytest.mark.parametrize(
    "location",
    [
        "ssh://git@example.org:0/r",
        "ssh://git@example.org:99999/r",
        "ssh://git@example.org",
        "git@example.org:",
    ],
)
def test_what_is_no_address_by_ssh_is_refused(location: str) -> None:
    with pytest.raises(ToolHubError) as refused:
        address_check(location)
    assert refused.value.code == "SOURCE_REFUSED"


def test_an_inside_host_by_ssh_is_refused_unless_it_is_allowed_at_that_port(settings: Any) -> None:
    settings.HTTP_ALLOW = ["127.0.0.1:443"]
    with pytest.raises(ToolHubError) as refused:
        address_check("ssh://git@127.0.0.1:2222/r.git")
    assert refused.value.code == "SOURCE_REFUSED"
    settings.HTTP_ALLOW = ["127.0.0.1:2222"]
    assert address_check("ssh://git@127.0.0.1:2222/r.git").port == 2222


def test_plain_http_is_for_hosts_that_an_admin_allowed_and_no_others(settings: Any, resolved: None) -> None:
    settings.HTTP_ALLOW = ["code.example.org:80"]
    assert address_check("http://code.example.org/r.git").scheme == "http"
    for location in ("http://other.example.org/r.git", "http://code.example.org:8080/r.git"):
        with pytest.raises(ToolHubError) as refused:
            address_check(location)
        assert refused.value.code == "SOURCE_REFUSED"


@pytest.mark.parametrize(
    "ref", ["--upload-pack=x", "-x", "a..b", "@{-1}", "a b", "main:refs/heads/x", "a.lock", "+main"]
)
def test_a_ref_that_is_more_than_a_ref_is_refused(fetch_git: Fetch, ref: str) -> None:
    with pytest.raises(ToolHubError) as refused:
        fetch_git("https://example.org/r.git", ref)
    assert refused.value.code == "SOURCE_REFUSED"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
        "10.0.0.1",
    ],
)
def test_an_inside_address_is_refused(fetch_git: Fetch, host: str) -> None:
    try:
        code = fetch_git(f"https://{host}/r.git").error["code"]
    except ToolHubError as error:
        code = error.code
    assert code in {"SOURCE_REFUSED", "SOURCE_FAILED"}
    # "does not resolve" is the only other answer than a refusal.
    if code == "SOURCE_FAILED":
        assert "does not resolve" in str(Installation.objects.get().error)


def test_a_submodule_and_a_link_are_refused(files_allowed: None, fetch_git: Fetch, tmp_path: Path) -> None:
    repository(tmp_path / "other", {"x": b"x"})
    repository(tmp_path / "sub", packages.files())
    git(tmp_path / "sub", "submodule", "add", "-q", str(tmp_path / "other"), "other")
    repository(tmp_path / "sub", {})
    one = fetch_git(f"file://{tmp_path / 'sub'}")
    assert one.error["code"] == "PACKAGE_REFUSED"
    assert "submodule" in one.error["message"]
    repository(tmp_path / "link", packages.files())
    (tmp_path / "link" / "passwd").symlink_to("/etc/passwd")
    repository(tmp_path / "link", {})
    one = fetch_git(f"file://{tmp_path / 'link'}")
    assert one.error["code"] == "PACKAGE_REFUSED"


def test_what_acts_in_a_checkout_does_nothing_here(
    files_allowed: None, fetch_git: Fetch, tmp_path: Path
) -> None:
    """Hooks, filters and attributes are for checkouts; `$Id$` would be replaced, line ends changed."""
    text = b"$Id$\r\n"
    repository(tmp_path / "r", {**packages.files(), ".gitattributes": b"* ident text eol=lf\n"})
    git(tmp_path / "r", "config", "core.autocrlf", "false")
    (tmp_path / "r" / ".gitattributes").write_bytes(b"* ident -text\n")
    (tmp_path / "r" / "a.txt").write_bytes(text)
    git(tmp_path / "r", "add", "-A")
    git(tmp_path / "r", "commit", "-q", "-m", "a")
    hook = tmp_path / "r" / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
    hook.chmod(0o755)
    one = fetch_git(f"file://{tmp_path / 'r'}")
    assert one.status == "awaiting_review", said(one)
    assert not (tmp_path / "pwned").exists()


def test_what_git_says_names_no_path_of_this_machine_and_nothing_of_it_stays(
    files_allowed: None, fetch_git: Fetch, tmp_path: Path, settings: Any
) -> None:
    repository(tmp_path / "r", packages.files())
    one = fetch_git(f"file://{tmp_path / 'r'}", "no-such-branch")
    assert one.error["code"] == "SOURCE_FAILED"
    assert str(settings.DATA) not in said(one)
    assert list((settings.DATA / "fetching").iterdir()) == []


def test_a_small_repository_that_takes_much_memory_is_refused_at_the_bound(
    files_allowed: None, fetch_git: Fetch, tmp_path: Path
) -> None:
    size = bomb(tmp_path / "bomb", copies=24)
    assert size > 380_000_000
    assert sum(file.stat().st_size for file in (tmp_path / "bomb").rglob("*") if file.is_file()) < 100_000
    one = fetch_git(f"file://{tmp_path / 'bomb'}")
    assert one.error is not None
    assert one.error["code"] == "RESOURCE_EXCEEDED", said(one)
    assert one.error["message"] == "git used more memory for this repository than the hub gives it."
    assert one.error["details"]["bounds"]["memory_bytes"] < size
