"""Which of the services that tests can use are reachable here, and why not."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import amqp
import psycopg
import redis

ROOT = Path(__file__).resolve().parent.parent
# Tells the tests of several checkouts on one machine apart.
CHECKOUT = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
POSTGRES = os.environ.get("TOOLHUB_TEST_POSTGRES", "postgres://toolhub:toolhub@127.0.0.1:5432/postgres")
REDIS = os.environ.get("TOOLHUB_TEST_REDIS", "redis://127.0.0.1:6379/15")
RABBITMQ = os.environ.get("TOOLHUB_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672//")


@dataclass(frozen=True)
class Service:
    """A service's name, and why it cannot be used; None when it can."""

    name: str
    missing: str | None


def database_url(purpose: str) -> str:
    """The PostgreSQL address with a database name of this checkout and purpose."""
    return urlunsplit(urlsplit(POSTGRES)._replace(path=f"/toolhub_{purpose}_{CHECKOUT}"))


def _postgres() -> str | None:
    url = urlunsplit(urlsplit(POSTGRES)._replace(scheme="postgresql", path="/postgres"))
    with psycopg.connect(url, connect_timeout=3) as connection:
        row = connection.execute("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user")
        return None if row.fetchone() == (True,) else "the role may not create databases"


def _redis() -> str | None:
    with redis.Redis.from_url(REDIS, socket_connect_timeout=3, socket_timeout=3) as client:
        client.ping()
    return None


def _rabbitmq() -> str | None:
    parts = urlsplit(RABBITMQ)
    connection = amqp.Connection(
        f"{parts.hostname}:{parts.port or 5672}",
        userid=parts.username or "guest",
        password=parts.password or "guest",
        virtual_host=parts.path[1:] or "/",
        connect_timeout=3,
    )
    connection.connect()
    connection.close()
    return None


def _chromium() -> str | None:
    return None if chromium() else "no program chromium on PATH"


def chromium() -> str | None:
    """Debian's chromium, best the one without windows, which takes half the work; or what it is called elsewhere."""
    found = map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))
    return next(filter(None, found), None)


def _bubblewrap() -> str | None:
    if not shutil.which("bwrap"):
        return "no program bwrap on PATH"
    command = ["bwrap", "--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    return None if done.returncode == 0 else done.stderr.strip() or "it cannot make a sandbox here"


PROBES: dict[str, Callable[[], str | None]] = {
    "PostgreSQL": _postgres,
    "Redis": _redis,
    "RabbitMQ": _rabbitmq,
    "chromium": _chromium,
    "bubblewrap": _bubblewrap,
}


def services() -> dict[str, Service]:
    """Every service by name, looked at now."""
    found = {}
    for name, probe in PROBES.items():
        try:
            missing = probe()
        except (OSError, psycopg.Error, redis.RedisError, amqp.AMQPError, subprocess.TimeoutExpired) as error:
            missing = (str(error).strip().splitlines() or [type(error).__name__])[0]
        found[name] = Service(name, missing)
    return found
