"""Every kind of text that somebody may give as a source: how it is read, or the sentence that refuses it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from core.errors import ToolHubError
from registry.installations.models import Installation
from registry.installations.source_form import Source, source_check
from tests.installations import packages
from tests.installations.git_server import git, repository

DIGEST = "0" * 64
HTTP_ALLOW = "TOOLHUB_HTTP_ALLOW (an operator of the hub can set it)"
GIT_FILES = "TOOLHUB_GIT_FILES is on (an operator of the hub can set it)"
# A text, and what the refusal says; None for one that is read.
GIT: list[tuple[str, str | None]] = [
    ("https://code.example.org/team/r.git", None),
    ("HTTPS://Code.Example.org/team/r.git", None),
    ("https://code.example.org:8443/r.git", None),
    ("ssh://git@code.example.org/r.git", None),
    ("ssh://git@code.example.org:443/~team/r.git", None),
    ("git@code.example.org:team/r.git", None),
    (
        "http://code.example.org/r.git",
        f"uses http://, which is not encrypted: use https://, or allow the host in {HTTP_ALLOW}",
    ),
    (
        "file:///srv/r.git",
        f"is a file:// address: the hub reads repositories on its own machine only where {GIT_FILES}",
    ),
    ("FILE:///srv/r.git", "only where TOOLHUB_GIT_FILES is on"),
    ("file://host/srv/r.git", "only where TOOLHUB_GIT_FILES is on"),
    ("git://code.example.org/r.git", "uses git://, which is neither encrypted nor authenticated"),
    ("ftp://code.example.org/r.git", "uses ftp://: only https:// and ssh:// are read"),
    ("rsync://code.example.org/r", "uses rsync://: only https:// and ssh:// are read"),
    ("svn+ssh://code.example.org/r", "uses svn+ssh://"),
    ("git+https://code.example.org/r", "uses git+https://"),
    ("ext::sh -c true", "names the transport helper ext::, which would run a program"),
    ("fd::17/r", "names the transport helper fd::"),
    ("https::https://code.example.org/r", "names the transport helper https::"),
    ("-oProxyCommand=x", "begins with a hyphen, as an option of a command does"),
    ("--upload-pack=x", "begins with a hyphen"),
    ("/srv/r.git", "is a path on a machine"),
    ("./r", "is a path on a machine"),
    ("../r", "is a path on a machine"),
    ("~/r", "is a path on a machine"),
    (".", "is a path on a machine"),
    ("C:\\r", "is a path on a machine"),
    ("C:/r", "is a path on a machine"),
    ("\\\\host\\share", "is a path on a machine"),
    ("code.example.org:team/r.git", "names no user: write git@host:path"),
    ("ssh://code.example.org/r.git", "names no user: write ssh://git@host/path"),
    ("ssh://git:word@code.example.org/r.git", "holds a password"),
    ("https://user:word@code.example.org/r.git", "holds a user name or password"),
    ("https://code.example.org/r.git?token=x", "has a query"),
    ("https://code.example.org/r.git#main", "has a fragment"),
    ("https://cödé.example.org/r.git", "has characters outside ASCII: write the host as xn--"),
    ("git@cödé.example.org:r.git", "has characters outside ASCII"),
    ("https://code.example.org/r\u202egit", "has characters outside ASCII"),
    ("https://code.example.org/r git", "has spaces or control characters"),
    ("https://code.example.org/r.git\n", "has spaces or control characters"),
    ("https://code.example.org:99999/r", "has a port that does not exist"),
    ("https://exa_mple.org/r", "is no http or https address"),
    ("r.git", "is no http or https address"),
]
ZIP: list[tuple[str, str | None]] = [
    ("https://code.example.org/p.zip", None),
    ("https://code.example.org/p.zip?signature=x", None),
    ("file:///srv/p.zip", "is a file:// address"),
    ("git@code.example.org:p.zip", "is no https:// address"),
    ("ssh://git@code.example.org/p.zip", "is no https:// address"),
    ("/srv/p.zip", "is a path on a machine"),
    ("ftp://code.example.org/p.zip", "uses ftp://"),
    ("https://cödé.example.org/p.zip", "has characters outside ASCII"),
    ("-x", "begins with a hyphen"),
]


def refusal(source: Source) -> str | None:
    try:
        source_check(source)
    except ToolHubError as error:
        place = [each["pointer"] for each in error.errors]
        return error.message if (error.code, place) == ("SOURCE_REFUSED", ["/location"]) else repr(error)
    return None


@pytest.mark.parametrize(("text", "why"), GIT)
def test_an_address_of_a_repository_is_read_or_refused_with_its_reason(text: str, why: str | None) -> None:
    said = refusal(Source("git", text))
    assert (said is None) is (why is None), said
    assert (why or "") in (said or "")


@pytest.mark.parametrize(("text", "why"), ZIP)
def test_an_address_of_a_zip_is_read_or_refused_with_its_reason(text: str, why: str | None) -> None:
    said = refusal(Source("url", text, digest=DIGEST))
    assert (said is None) is (why is None), said
    assert (why or "") in (said or "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("file:///srv/r.git", None),
        ("file:///srv/../etc", "is not file:/// with an absolute path"),
        ("file://host/r", "is not file:/// with an absolute path"),
        ("file:///a%20b", "is not file:/// with an absolute path"),
    ],
)
def test_file_addresses_are_read_where_the_setting_is_on(settings: Any, text: str, why: str | None) -> None:
    settings.GIT_FILES = True
    said = refusal(Source("git", text))
    assert (said is None) is (why is None), said
    assert (why or "") in (said or "")


# --- at the terminal ---

Install = Callable[..., str]


@pytest.fixture
def install(transactional_db: None, capsys: pytest.CaptureFixture[str]) -> Install:
    """What `package_install` says, or why it stops."""

    def act(*words: str) -> str:
        try:
            call_command("package_install", "--yes", *words)
        except CommandError as error:
            return f"! {error}"
        return capsys.readouterr().out

    return act


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    repository(tmp_path / "r", packages.files(tools=[packages.tool(examples=[])]), "v1.0.0")
    git(tmp_path, "clone", "-q", "--bare", "r", "bare.git")
    return tmp_path / "bare.git"


def test_a_path_to_a_bare_repository_is_read_by_git(install: Install, bare: Path, settings: Any) -> None:
    assert "TOOLHUB_GIT_FILES is on" in install(str(bare))
    settings.GIT_FILES = True
    assert "greetings 1.0.0 is installed." in install(str(bare), "--ref", "v1.0.0")
    assert Installation.objects.get().source_type == "git"


def test_a_ref_has_a_working_tree_read_by_git(install: Install, bare: Path, settings: Any) -> None:
    settings.GIT_FILES = True
    assert "greetings 1.0.0 is installed." in install(str(bare.parent / "r"), "--ref", "v1.0.0")


def test_options_that_would_do_nothing_are_refused(install: Install, tmp_path: Path) -> None:
    (tmp_path / "p.zip").write_bytes(packages.zipped())
    (tmp_path / "notes.txt").write_text("no zip")
    (tmp_path / "folder").mkdir()
    for words, said in (
        ((str(tmp_path / "p.zip"), "--digest", DIGEST), "only a zip at an address a digest"),
        ((str(tmp_path / "p.zip"), "--ref", "main"), "only a repository has a ref and a path"),
        ((str(tmp_path / "folder"), "--path", "x"), "only a repository has a ref and a path"),
        ((str(tmp_path / "notes.txt"),), "zip"),
        ((str(tmp_path / "nothing"),), "There is no folder or file"),
        (("https://code.example.org/p.zip",), "A zip at an address needs --digest SHA256."),
    ):
        assert said in install(*words), words
    assert not Installation.objects.filter(status="published").exists()
