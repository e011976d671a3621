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

REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}")
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SSH = re.compile(
    r"(?:ssh://)?(?P<user>[a-z_][a-z0-9_-]{0,31})@(?P<host>[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)"
    r"(?P<path>(?:(?<=[a-z0-9])[:/])[A-Za-z0-9._/~+-]{1,400})"
)
_FILE = re.compile(r"file:///[A-Za-z0-9._/+-]{1,400}")
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
    if _FILE.fullmatch(text) and settings.GIT_FILES and "/../" not in text:
        return
    if _SSH.fullmatch(text):
        return
    try:
        url = url_read(text)
    except HttpRefused as error:
        raise refused(str(error)) from error
    if url.scheme != "https" and not _allowed_plain(url):
        raise refused("is not https or ssh")


def address_check(text: str) -> GitAddress:
    """The address, with its host resolved and checked now. Raises SOURCE_REFUSED, SOURCE_FAILED."""
    address_shape(text)
    if text.startswith("file://"):
        return GitAddress("file", text, "", 0, ())
    ssh = _SSH.fullmatch(text)
    if ssh:
        path = ssh["path"][1:].removeprefix("/")
        # What is asked of the network's guard is the same for any scheme: is the host somebody's inside?
        url = url_read(f"https://{ssh['host']}/")
        pins = _resolved(url)
        return GitAddress("ssh", f"ssh://{ssh['user']}@{ssh['host']}/{path}", ssh["host"], 22, pins)
    url = url_read(text)
    return GitAddress(url.scheme, text, url.host, url.port, _resolved(url))


def _allowed_plain(url: Url) -> bool:
    """Whether an admin allowed this host by name or network, which then goes for plain http, too."""
    return bool(settings.HTTP_ALLOW)


def _resolved(url: Url) -> tuple[IPAddress, ...]:
    try:
        allowed = [allowed_read(entry) for entry in settings.HTTP_ALLOW]
        return tuple(addresses_checked(url, allowed, seconds=RESOLVE_S))
    except HttpRefused as error:
        raise refused(str(error)) from error
    except HttpFailed as error:
        raise ToolHubError(f"The repository cannot be reached: {error}.", code="SOURCE_FAILED") from error


def refused(why: str) -> InvalidRequest:
    """The error about a repository's address."""
    message = f"The repository's address {why}."
    return InvalidRequest(
        message, code="SOURCE_REFUSED", errors=[{"pointer": "/location", "message": message}]
    )
