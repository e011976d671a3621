"""Tests of credentials of git servers: their form and, at a repository, whether the server accepts them."""

import base64
import json
import re
from urllib.parse import unquote

from core.errors import InvalidRequest, ToolHubError
from core.http.errors import HttpRefused
from core.http.probe import Asked, Probe, credentials_probe
from core.http.urls import url_read
from registry.installations.models import Installation
from registry.installations.sources.git import git_ask
from registry.installations.sources.git_address import SSH_PORT, GitAddress, address_check
from registry.installations.sources.git_credentials import CHANGE, SCOPE
from security.acting import By, acting
from security.models import Secret
from security.sealing import Unsealable
from security.secret_tests import PreparedTest, Report, SecretReport, tests_limit
from security.vault import secrets_read
from toolhub_sdk.normal_form import url_split

SECONDS = 15.0
NO_REPOSITORY = "Name a repository of the server to see whether it accepts them."
_NOT_THERE = "There is no such repository, or its server hides it from these credentials."
_UNREACHABLE = re.compile(
    r"refused|timed out|resolve|no route|unreachable|connection closed|reset", re.IGNORECASE
)
_SSH = re.compile(
    r"ssh://(?:[^/@]*@)?(?P<host>[a-z0-9.-]+)(?::(?P<port>[0-9]{1,5}))?(?:/.*)?"
    r"|[^/@:]+@(?P<scp>[a-z0-9.-]+):(?!//).+"
)
_LINE_MOST = 200


def credential_test(*, by: By, secret: Secret, repository: str = "") -> PreparedTest:
    """Prepare a test of a git server's credentials at a repository of it; empty: of their form alone.

    Raises Denied, InvalidRequest for a repository of another server, and ToolHubError RATE_LIMIT.
    """
    actor = acting(by, CHANGE)
    repository = repository.strip()
    if repository:
        _same_server(secret.name, repository)
    tests_limit(actor)
    return PreparedTest(actor, SCOPE, lambda: _report(secret.name, repository))


def repository_proposed(server: str) -> str:
    """The repository of the server that somebody installed from last; empty for none."""
    rows = Installation.objects.filter(source_type="git").order_by("-id").values_list("location", flat=True)
    return next((location for location in rows[:200] if server_of(location) == server), "")


def server_of(location: str) -> str:
    """The server of a repository as credentials name it, without its default port; empty for none."""
    found = _SSH.fullmatch(location)
    if found:
        host, port = found["host"] or found["scp"], int(found["port"] or SSH_PORT)
        return f"ssh://{host}" if port == SSH_PORT else f"ssh://{host}:{port}"
    try:
        return url_read(location).origin
    except HttpRefused:
        return ""


def _same_server(server: str, repository: str) -> None:
    if server_of(repository) != server_of(server):
        message = f"Name a repository of {server}: no other server gets these credentials."
        raise InvalidRequest(message, errors=[{"pointer": "/repository", "message": message}])


def _report(server: str, repository: str) -> Report:
    try:
        kept = secrets_read(SCOPE, [server]).get(server)
    except Unsealable:
        why = "No key of TOOLHUB_VAULT_KEYS opens the credentials. Give the hub the key, or set them again."
        return Report("invalid", why, (SecretReport(server, "invalid", ()),))
    if kept is None:
        return Report("missing", "Somebody removed the credentials.", (SecretReport.of(server, None),))
    by_ssh = server.startswith("ssh:")
    user, password = ("", json.loads(kept)["key"]) if by_ssh else _login(kept)
    secrets = (SecretReport.of(server, password),)
    if not repository:
        invalid = secrets[0].state == "invalid"
        return Report("invalid" if invalid else "untested", NO_REPOSITORY, secrets)
    try:
        address = address_check(repository)
        probe = _by_ssh(address) if by_ssh else _by_web(repository, user, password)
    except ToolHubError as error:
        return Report("unreachable", f"{error.message} {' '.join(error.suggestions)}", secrets)
    return Report.of(probe, secrets, "Set them again, or let the server give this user the right to read.")


def _login(line: str) -> tuple[str, str]:
    """User and password of a line of git's store."""
    parts = url_split(line)
    return unquote(parts.username or ""), unquote(parts.password or "")


def _by_web(repository: str, user: str, password: str) -> Probe:
    """Ask for the repository's refs by smart HTTP, as git's fetch begins (gitprotocol-http)."""
    url = f"{repository.rstrip('/')}/info/refs?service=git-upload-pack"
    login = base64.b64encode(f"{user}:{password}".encode()).decode()
    return credentials_probe(
        Asked(url, {"Authorization": f"Basic {login}"}), Asked(url, {}), not_found=_NOT_THERE
    )


def _by_ssh(address: GitAddress) -> Probe:
    host = f"{address.host}:{address.port}"
    try:
        git_ask(address.address, SECONDS)
    except ToolHubError as error:
        if error.code != "SOURCE_FAILED":
            raise
        said = [str(line) for line in error.data.get("said", ())]
        return _ssh_failed(host, said, error)
    return Probe("accepted", f"{host} accepted the key, and the repository can be read.", host)


def _ssh_failed(host: str, said: list[str], error: ToolHubError) -> Probe:
    """What ssh and git said of a server that gave no refs, read in LC_ALL=C."""
    whole = "\n".join(said)
    if "Permission denied" in whole:
        return Probe("refused", f"{host} refused the key.", host)
    if "Host key verification failed" in whole or "host key" in whole.lower():
        why = f"{host} shows another public key than those that were set for it. Nothing was sent."
        return Probe("unreachable", why, host)
    if not said or _UNREACHABLE.search(whole):
        return Probe("unreachable", f"{host} gave no answer: {error.message}", host)
    why = f"{host} accepted the key and gave no repository: {said[-1][:_LINE_MOST]}"
    return Probe("unclear", why, host)
