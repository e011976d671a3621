"""Keys for git servers by ssh in the vault, beside the one in TOOLHUB_GIT_SSH_KEY."""

import json
import re
from dataclasses import dataclass

from django.conf import settings

from core.errors import InvalidRequest, ToolHubError
from registry.installations.sources.git_address import SSH_PORT
from registry.installations.sources.git_credentials import CHANGE, SCOPE
from security.acting import By, acting
from security.sealing import Unsealable
from security.vault import secret_set, secrets_read

_SERVER = re.compile(r"ssh://(?P<host>[a-z0-9](?:[a-z0-9.-]{0,178}[a-z0-9])?)(?::(?P<port>[0-9]{1,5}))?")
_KEY = re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----\n[A-Za-z0-9+/=\n]+-----END \1-----")
_HOST_KEY = re.compile(
    r"(?:(?P<name>\S+) )?(?P<key>(?:ssh|ecdsa|sk)-[a-z0-9@.-]+ [A-Za-z0-9+/]{20,}={0,2})(?: .*)?"
)


@dataclass(frozen=True)
class Identity:
    """What ssh is given for a server: our private key, and the lines of known_hosts that it accepts."""

    key: str
    hosts: str


def key_set(*, by: By, server: str, key: str, host_keys: str) -> None:
    """Keeps a private key and the server's own keys for `ssh://host`, perhaps with a port.

    `host_keys` are lines as the server's people publish them or ssh-keyscan tells them. Raises Denied, and
    InvalidRequest with a pointer to the field.
    """
    actor = acting(by, CHANGE)
    server = server.strip().lower().rstrip("/").removesuffix(f":{SSH_PORT}")
    found = _SERVER.fullmatch(server)
    if not found:
        raise _wrong("server", "Write ssh://host, perhaps with a port, and nothing behind it.")
    key = "\n".join(key.split("\r\n")).strip()
    if not _KEY.fullmatch(key):
        raise _wrong("key", "Write the private key whole, as ssh-keygen made it, without a passphrase.")
    lines = [line for line in map(str.strip, host_keys.splitlines()) if line and not line.startswith("#")]
    known = [_HOST_KEY.fullmatch(line) for line in lines]
    if not lines or not all(known):
        raise _wrong("host_keys", "Write the server's public keys, a line each, such as ssh-ed25519 AAAA…")
    hosts = "".join(f"{found['host']} {one['key']}\n" for one in known if one)
    secret_set(actor=actor, scope=SCOPE, name=server, value=json.dumps({"key": key, "hosts": hosts}))


def identity_of(host: str, port: int) -> Identity:
    """The server's own identity in the vault, else the one of the settings.

    Raises ToolHubError SOURCE_FAILED without the vault's key, or without any.
    """
    name = f"ssh://{host}" + ("" if port == SSH_PORT else f":{port}")
    try:
        kept = secrets_read(SCOPE, [name]).get(name)
    except Unsealable as error:
        message = "The key in the vault cannot be opened: a key of TOOLHUB_VAULT_KEYS is missing."
        raise ToolHubError(message, code="SOURCE_FAILED") from error
    if kept:
        return Identity(**json.loads(kept))
    if not settings.GIT_SSH_KEY.strip():
        raise ToolHubError(
            f"The hub has no ssh key for {name}.",
            code="SOURCE_FAILED",
            suggestions=["Set one on the page Secrets, or in TOOLHUB_GIT_SSH_KEY."],
        )
    return Identity(settings.GIT_SSH_KEY.strip(), settings.GIT_KNOWN_HOSTS.strip() + "\n")


def _wrong(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])
