"""Reads settings from the environment: typed, loud on a bad value, secrets also from `NAME_FILE`.

Every variable is declared here once, so that the settings, the docs page and the check for
misspelt names share one list.
"""

import base64
import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Variable:
    """One environment variable: its name, what it does, its default in words, and whether it is a secret."""

    name: str
    meaning: str
    default: str
    secret: bool = False


VARIABLES: dict[str, Variable] = {}


def _declare(name: str, meaning: str, default: str, *, secret: bool = False) -> None:
    VARIABLES[name] = Variable(name, meaning, default, secret)


def _raw(name: str) -> str | None:
    """The variable's text, for a secret also from the file that `NAME_FILE` names; None when unset."""
    value = os.environ.get(name)
    file = os.environ.get(f"{name}_FILE") if VARIABLES[name].secret else None
    if value and file:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set. Set one of them.")
    if file:
        try:
            value = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ImproperlyConfigured(f"{name}_FILE cannot be read: {type(error).__name__}.") from error
    return value or None


def _read(name: str, default: T, parse: Callable[[str], T]) -> T:
    raw = _raw(name)
    if raw is None:
        return default
    try:
        return parse(raw)
    except ValueError as error:
        shown = "its value" if VARIABLES[name].secret else repr(raw)
        raise ImproperlyConfigured(
            f"{name}: {shown} is not valid: {error}. {VARIABLES[name].meaning}"
        ) from error


def text(name: str, default: str, meaning: str, *, secret: bool = False, shown: str | None = None) -> str:
    """A text setting; `shown` is the default in words, for the docs."""
    _declare(name, meaning, shown if shown is not None else default, secret=secret)
    return _read(name, default, str)


def data_folder() -> Path:
    """TOOLHUB_DATA, absolute."""
    meaning = "Folder of the database, keys and spool."
    return Path(text("TOOLHUB_DATA", str(ROOT / "var"), meaning, shown="var/ in the project")).absolute()


def choice(name: str, default: str, meaning: str, allowed: tuple[str, ...]) -> str:
    """One of a few words."""

    def parse(raw: str) -> str:
        if raw not in allowed:
            raise ValueError(f"one of {', '.join(allowed)} is expected")
        return raw

    _declare(name, meaning, default)
    return _read(name, default, parse)


def broker_url(name: str, default: str, meaning: str) -> str:
    """A broker's address: `embedded://`, `redis://…`, `rediss://…`, `amqp://…` or `amqps://…`."""

    def parse(raw: str) -> str:
        if urlsplit(raw).scheme not in {"embedded", "redis", "rediss", "amqp", "amqps"}:
            raise ValueError("an address such as redis://host:6379/0 is expected")
        return raw

    _declare(name, meaning, default, secret=True)
    return _read(name, default, parse)


def integer(name: str, default: int, meaning: str, *, least: int, most: int, shown: str | None = None) -> int:
    """A whole number between `least` and `most`, both included; `shown` is the default in words."""

    def parse(raw: str) -> int:
        value = int(raw)
        if not least <= value <= most:
            raise ValueError(f"a whole number from {least} to {most} is expected")
        return value

    _declare(name, meaning, shown or str(default))
    return _read(name, default, parse)


def switch(name: str, default: bool, meaning: str) -> bool:
    """`on` or `off` (also 1/0, true/false, yes/no)."""
    words = {
        "on": True,
        "1": True,
        "true": True,
        "yes": True,
        "off": False,
        "0": False,
        "false": False,
        "no": False,
    }

    def parse(raw: str) -> bool:
        if raw.lower() not in words:
            raise ValueError("on or off is expected")
        return words[raw.lower()]

    _declare(name, meaning, "on" if default else "off")
    return _read(name, default, parse)


def names(
    name: str, default: tuple[str, ...], meaning: str, *, check: Callable[[str], object] | None = None
) -> list[str]:
    """A list separated by commas; `check` raises ValueError for an entry that is not valid."""

    def parse(raw: str) -> list[str]:
        parts = [part.strip() for part in raw.split(",") if part.strip()]
        for part in parts:
            if check:
                check(part)
        return parts

    _declare(name, meaning, ", ".join(default) or "none")
    return _read(name, list(default), parse)


def issuer(name: str, meaning: str) -> str:
    """The address of an OpenID Connect provider, kept to the letter; empty where there is none."""

    def parse(raw: str) -> str:
        parts = urlsplit(raw)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("an address such as https://id.example.org/realms/staff is expected")
        if len(raw) > 255:
            raise ValueError("at most 255 characters are expected")
        return raw

    _declare(name, meaning, "none")
    return _read(name, "", parse)


def http_url(name: str, default: str, meaning: str) -> str:
    """An absolute http(s) address without path."""

    def parse(raw: str) -> str:
        parts = urlsplit(raw)
        if (
            parts.scheme not in {"http", "https"}
            or not parts.hostname
            or parts.path.strip("/")
            or parts.query
        ):
            raise ValueError("an address such as https://tools.example.org is expected")
        return raw.rstrip("/")

    _declare(name, meaning, default)
    return _read(name, default, parse)


def secret_key(data: Path) -> str:
    """TOOLHUB_SECRET_KEY, or the key kept in the data folder, made at the first start (mode 0600)."""
    given = text(
        "TOOLHUB_SECRET_KEY",
        "",
        "Signs cookies; at least 32 characters.",
        secret=True,
        shown="made in the data folder",
    )
    if given:
        if len(given) < 32:
            raise ImproperlyConfigured("TOOLHUB_SECRET_KEY is too short: use at least 32 random characters.")
        return given
    return _kept(data, "secret_key", lambda: secrets.token_urlsafe(48), lambda key: len(key) >= 32)


@dataclass(frozen=True)
class MailServer:
    """A server that takes mail: `tls` from the start, or `starttls`."""

    host: str
    port: int
    user: str
    password: str
    tls: bool
    starttls: bool


def mail_server() -> MailServer:
    """TOOLHUB_MAIL_URL as a value: smtp (STARTTLS), smtps (TLS), or smtp+plain for a server next door."""
    given = text(
        "TOOLHUB_MAIL_URL",
        "smtp+plain://localhost:25",
        "The server that takes the hub's mail: smtp://user:password@host:587 (STARTTLS), smtps:// (TLS), smtp+plain://.",
        secret=True,
        shown="smtp+plain://localhost:25",
    )
    parts = urlsplit(given)
    ports = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in ports or not parts.hostname or port == -1 or parts.path not in ("", "/"):
        raise ImproperlyConfigured(
            "TOOLHUB_MAIL_URL is not valid: write smtp://user:password@host:587, smtps:// or smtp+plain://."
        )
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    tls, starttls = parts.scheme == "smtps", parts.scheme == "smtp"
    return MailServer(parts.hostname, port or ports[parts.scheme], user, password, tls, starttls)


def webhook_secret(*, needed: bool) -> str:
    """TOOLHUB_APPROVAL_WEBHOOK_SECRET, which an address needs."""
    given = text(
        "TOOLHUB_APPROVAL_WEBHOOK_SECRET",
        "",
        "Signs what is sent to TOOLHUB_APPROVAL_WEBHOOK: whsec_ and 32 random bytes in base64.",
        secret=True,
        shown="none",
    )
    try:
        fits = len(base64.b64decode(given.removeprefix("whsec_"), validate=True)) >= 24
    except ValueError:
        fits = False
    if (given and not fits) or (needed and not given):
        raise ImproperlyConfigured(
            "TOOLHUB_APPROVAL_WEBHOOK_SECRET is not valid: write whsec_ and 32 random bytes in base64."
        )
    return given


def vault_keys(data: Path) -> list[str]:
    """TOOLHUB_VAULT_KEYS, newest first, or the one kept in the data folder, made at the first start."""
    given = text(
        "TOOLHUB_VAULT_KEYS",
        "",
        "Fernet keys that encrypt kept secrets, newest first, with commas; the same for all processes.",
        secret=True,
        shown="made in the data folder",
    )
    keys = [key.strip() for key in given.split(",") if key.strip()]
    if not all(_is_fernet_key(key) for key in keys):
        raise ImproperlyConfigured(
            "TOOLHUB_VAULT_KEYS is not valid: each key is 32 random bytes in URL-safe base64."
        )
    return keys or [_kept(data, "vault_key", _fernet_key, _is_fernet_key)]


def _fernet_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def _is_fernet_key(key: str) -> bool:
    try:
        return len(base64.urlsafe_b64decode(key)) == 32
    except ValueError:
        return False


def _kept(data: Path, name: str, make: Callable[[], str], fits: Callable[[str], bool]) -> str:
    """A secret in a file of the data folder, made when there is none.

    Processes that start at the same time agree on one, and none reads a half of it: the file gets its
    name when it is whole, and only if no other has it yet.
    """
    file = data / name
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        if file.exists():
            return _read_kept(file, fits)
        with tempfile.NamedTemporaryFile("w", encoding="ascii", dir=data, prefix=f".{name}-") as whole:
            whole.write(make())
            whole.flush()
            os.fsync(whole.fileno())
            with contextlib.suppress(FileExistsError):
                file.hardlink_to(whole.name)
        return _read_kept(file, fits)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder cannot be written ({error.strerror}). Choose one with TOOLHUB_DATA."
        ) from error


def _read_kept(file: Path, fits: Callable[[str], bool]) -> str:
    key = file.read_text(encoding="ascii").strip()
    if not fits(key):
        raise ImproperlyConfigured(
            f"The file {file.name} in the data folder is damaged. Restore it, or delete it."
        )
    return key


def database(url: str) -> dict[str, object]:
    """A DATABASES entry from `sqlite:///path` or `postgres://user:password@host:port/name`.

    Raises ImproperlyConfigured with the remedy when the address names anything else.
    """
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return {
            "ENGINE": "core.sqlite3",
            "NAME": unquote(parts.path[1:]) if parts.path.startswith("//") else unquote(parts.path),
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": (
                    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA recursive_triggers=ON;"
                ),
            },
        }
    if parts.scheme in {"postgres", "postgresql"} and parts.path.strip("/"):
        return {
            "ENGINE": "core.postgres",
            "NAME": unquote(parts.path.lstrip("/")),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
            "OPTIONS": {},
        }
    raise ImproperlyConfigured(
        "TOOLHUB_DATABASE_URL is not valid: "
        "use sqlite:///path/to/file or postgres://user:password@host:port/name."
    )
