"""Credentials of git servers in the vault, beside those in TOOLHUB_GIT_CREDENTIALS."""

import re
from collections.abc import Mapping
from urllib.parse import quote

from core.errors import InvalidRequest, NotFound, ToolHubError
from security.acting import By, acting
from security.models import Secret
from security.sealing import Unsealable
from security.vault import secret_remove, secret_set, secrets_listed, secrets_read

CHANGE = "security.change_secret"
SCOPE = "git"
_SERVER = re.compile(r"https?://[a-z0-9.-]{1,180}(?::[0-9]{1,5})?")


def credential_set(*, by: By, server: str, user: str, password: str) -> None:
    """Keeps user and password for a server, `https://host` perhaps with a port; in place of those before.

    Raises Denied, and InvalidRequest with a pointer to the field.
    """
    actor = acting(by, CHANGE)
    server = server.strip().lower().rstrip("/")
    user, password = user.strip("\r\n"), password.strip("\r\n")
    if not _SERVER.fullmatch(server):
        raise _wrong("server", "Write https://host, perhaps with a port, and nothing behind it.")
    if not 1 <= len(user) <= 200 or not user.isprintable():
        raise _wrong("user", "At most 200 characters; services with tokens say what to write here.")
    if not password or not password.isprintable():
        raise _wrong("password", "Write the password or token, on one line.")
    scheme, _, host = server.partition("://")
    line = f"{scheme}://{quote(user, safe='')}:{quote(password, safe='')}@{host}"
    secret_set(actor=actor, scope=SCOPE, name=server, value=line)


def credential_remove(*, by: By, server: str) -> bool:
    """Forgets a server's credentials; false when there were none. Raises Denied."""
    return bool(secret_remove(actor=acting(by, CHANGE), scope=SCOPE, name=server))


def credential_row(pk: int) -> Secret:
    """The credentials of a server by their row's key, not opened. Raises NotFound."""
    found = Secret.objects.defer("sealed").filter(pk=pk, scope=SCOPE).first()
    if found is None:
        raise NotFound("There are no such credentials.")
    return found


def credentials_listed() -> Mapping[str, Secret]:
    """The servers with who set their credentials."""
    return secrets_listed(SCOPE)


def credentials_read() -> list[str]:
    """Lines as git's store has them. Raises ToolHubError SOURCE_FAILED without the vault's key."""
    try:
        # Keys for servers by ssh are there, too (git_keys.py).
        kept = secrets_read(SCOPE)
        return [line for server, line in kept.items() if not server.startswith("ssh:")]
    except Unsealable as error:
        message = "The credentials in the vault cannot be opened: a key of TOOLHUB_VAULT_KEYS is missing."
        raise ToolHubError(message, code="SOURCE_FAILED") from error


def _wrong(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])
