"""Addresses and refs of git repositories: a narrow grammar, so that nothing reads as an option."""

import re
from dataclasses import dataclass

from django.conf import settings

from core.errors import InvalidRequest, ToolHubError
from core.http.addresses import IPAddress
from core.http.allowed import allowed_read
from core.http.errors import HttpFailed, HttpRefused
from core.http.names import addresses_checked
from core.http.urls import Url, url_read
from registry.installations.sources.address_kinds import OPERATOR, is_file, kind_refusal, plain_refusal

REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}")
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_USER = r"(?P<user>[a-z_][a-z0-9_-]{0,31})"
_HOST = r"(?P<host>[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)"
# Two forms: an address with a port perhaps, and that of scp, whose path is relative to the user's home.
_SSH = re.compile(rf"ssh://{_USER}@{_HOST}(?::(?P<port>[0-9]{{1,5}}))?(?P<path>/[A-Za-z0-9._/~+-]{{1,400}})")
_SCP = re.compile(rf"{_USER}@{_HOST}:(?P<path>[A-Za-z0-9._/~+][A-Za-z0-9._/~+-]{{0,399}})")
SSH_PORT = 22
RESOLVE_S = 5.0


@dataclass(frozen=True)
class GitAddress:
    """A repository as git is told of it. `pins` are the addresses that its host was checked to have."""

    scheme: str
    address: str
    host: str
    port: int
    pins: tuple[IPAddress, ...]


def ref_check(ref: str) -> None:
    """Raises InvalidRequest for what is no branch, tag or commit (git-check-ref-format, narrower)."""
    bad = ".." in ref or "//" in ref or ref.endswith((".", "/", ".lock"))
    if ref and (bad or not REF.fullmatch(ref)):
        message = "This is no branch, tag or commit."
        raise InvalidRequest(message, code="SOURCE_REFUSED", errors=[{"pointer": "/ref", "message": message}])


def address_shape(text: str) -> None:
    """Raises SOURCE_REFUSED unless the text reads as a repository's address; asks nobody."""
    if why := kind_refusal(text, files_allowed=settings.GIT_FILES):
        raise refused(why)
    if is_file(text) or _ssh_read(text):
        return
    try:
        url = url_read(text)
    except HttpRefused as error:
        raise refused(str(error)) from error
    if "?" in url.target:
        raise refused("has a query: a repository's address has none")
    if url.scheme != "https" and not _may_be_plain(url):
        raise refused(plain_refusal())


def address_check(text: str) -> GitAddress:
    """The address, with its host resolved and checked now. Raises SOURCE_REFUSED, SOURCE_FAILED."""
    address_shape(text)
    if text.startswith("file://"):
        return GitAddress("file", text, "", 0, ())
    url = _ssh_read(text) or url_read(text)
    return GitAddress(url.scheme, text, url.host, url.port, _resolved(url))


def _ssh_read(text: str) -> Url | None:
    """Host and port of an address by ssh, as the guard of the network asks for them; None for another."""
    found = _SSH.fullmatch(text) or _SCP.fullmatch(text)
    if found is None:
        return None
    port = int(found.groupdict().get("port") or SSH_PORT)
    if not 1 <= port <= 65535:
        raise refused("has a port that does not exist")
    return Url("ssh", found["host"], port, "/")


def _may_be_plain(url: Url) -> bool:
    """Whether an admin may have allowed plain http there: this host, or a network that it may lie in."""
    allowed = [allowed_read(entry) for entry in settings.HTTP_ALLOW]
    return any(
        (one.network is not None or one.host == url.host) and one.port in (None, url.port) for one in allowed
    )


def _resolved(url: Url) -> tuple[IPAddress, ...]:
    try:
        allowed = [allowed_read(entry) for entry in settings.HTTP_ALLOW]
        return tuple(addresses_checked(url, allowed, seconds=RESOLVE_S))
    except HttpRefused as error:
        raise refused(f"{error}. It can be allowed in TOOLHUB_HTTP_ALLOW ({OPERATOR})") from error
    except HttpFailed as error:
        raise ToolHubError(f"The repository cannot be reached: {error}.", code="SOURCE_FAILED") from error


def refused(why: str) -> InvalidRequest:
    """The error about a repository's address."""
    message = f"The repository's address {why}."
    return InvalidRequest(
        message, code="SOURCE_REFUSED", errors=[{"pointer": "/location", "message": message}]
    )
