"""The hub under faults: services, processes, a token, and the file in which the world counts."""

import contextlib
import json
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from signal import SIGCONT, SIGKILL, SIGSTOP
from threading import Lock

from bench.server import ROOT, clean_environment, free_port
from chaos.disk import DiskMissing, SmallDisk
from chaos.processes import Process, Processes, children, is_alive, manage, parent_of, wait_for
from chaos.services import BROKERS, Broker, Database, sqlite_url

SLOTS = 3
# Processes below a killed supervisor end within this many seconds.
LEFT_S = 300.0
# The tables on a small disk, and its size.
FULL = ("execution_run", "audit_event")
DISK_MB = 256


@dataclass
class Role:
    """One of the hub's processes, which is started again when a fault ended it."""

    name: str
    start: Callable[[], Process]
    process: Process
    lock: Lock = field(default_factory=Lock)


@dataclass
class Hub:
    """A running hub. `direct` is the environment of commands, which no fault keeps from the services."""

    port: int
    # Ports of web processes; clients use each.
    ports: tuple[int, ...]
    token: str
    approver: str
    # Why no tool runs in the sandbox here; empty where one does.
    no_sandbox: str
    lease_s: int
    world: Path
    roles: list[Role]
    processes: Processes
    direct: dict[str, str]
    broker: Broker
    database: Database | None

    def one(self, name: str, random: Random) -> Role:
        """A role of that name by chance."""
        return random.choice([role for role in self.roles if role.name == name])

    def kill(self, role: Role) -> None:
        """Ends its process and starts another."""
        with role.lock:
            self.processes.kill(role.process)
            role.process = role.start()

    def kill_supervisor(self, role: Role) -> None:
        """Ends the supervisor alone: all that is below it has to end by itself. Then starts another."""
        with role.lock:
            below = children(role.process)
            role.process.kill()
            role.process.wait()
            wait_for(lambda: not any(map(is_alive, below)), LEFT_S, "the end of what a supervisor left")
            role.process = role.start()

    def kill_guard(self, role: Role, random: Random) -> None:
        """Ends one of the supervisor's guards; it is its task to start another."""
        with role.lock:
            guards = [pid for pid in children(role.process) if parent_of(pid) == role.process.pid]
            if guards:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(random.choice(guards), SIGKILL)

    def start_anew(self, role: Role, start: Callable[[], Process]) -> None:
        """Ends a role's process and starts it in another way; its next start is the usual one again."""
        with role.lock:
            self.processes.kill(role.process)
            role.process = start()

    def kill_child(self, role: Role, random: Random) -> None:
        """Ends one of the processes that it has below it; it is its own task to start another."""
        with role.lock:
            below = children(role.process)
            if below:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(random.choice(below), SIGKILL)

    def stop(self, role: Role, rest: Callable[[], None]) -> None:
        """Stops it for the time of a rest, then lets it go on."""
        with role.lock:
            self.processes.signal(role.process, SIGSTOP)
            rest()
            self.processes.signal(role.process, SIGCONT)

    def count(self, patience_s: float) -> str:
        """What `chaos_count` says once every run is closed, or after so many seconds."""
        return manage(self.direct, "chaos_count", "--wait", str(patience_s), patience_s=patience_s + 300)


@contextlib.contextmanager
def running(
    folder: Path, broker_name: str, lease_s: int, *, fsync: bool = True, wide: bool = False
) -> Iterator[Hub]:
    """A hub on PostgreSQL, or with the embedded broker on SQLite. All of it is ended afterwards.

    A `wide` one has a second machine run by `manage.py up`, and its runs and ledger on a small disk, where
    one can be mounted. `fsync` is PostgreSQL's.
    """
    (folder / "data").mkdir(mode=0o700)
    prefix = f"chaos.{secrets.token_hex(4)}."
    with contextlib.ExitStack() as after:
        broker = BROKERS[broker_name](folder, prefix)
        after.callback(broker.remove)
        database = None if broker_name == "embedded" else Database(folder, fsync=fsync)
        if database:
            after.callback(database.remove)
        settings = {
            "DJANGO_SETTINGS_MODULE": "chaos.settings",
            "PYTHONPATH": str(ROOT),
            "TOOLHUB_BROKER_URL": broker.url,
            "TOOLHUB_QUEUE_PREFIX": prefix,
            "TOOLHUB_LEASE_S": str(lease_s),
            "TOOLHUB_WORKERS": str(SLOTS),
            "TOOLHUB_WEB_WORKERS": "1",
            "TOOLHUB_HTTP_ALLOW": "127.0.0.1",
            "TOOLHUB_SANDBOX_PROCESS": "on",
        }
        url, direct_url = (database.url, database.direct) if database else (sqlite_url(folder),) * 2
        direct = clean_environment(folder / "data", TOOLHUB_DATABASE_URL=direct_url, **settings)
        prepared = json.loads(manage(direct, "chaos_prepare", str(folder / "world")).splitlines()[-1])
        if database and wide:
            with contextlib.suppress(DiskMissing):
                database.disk = SmallDisk(database.server, FULL, megabytes=DISK_MB)
        processes = Processes({**direct, "TOOLHUB_DATABASE_URL": url}, folder / "hub.log")
        after.callback(processes.end_all)
        port = free_port()
        ports: tuple[int, ...] = (port,)
        starts: list[tuple[str, Callable[[], Process]]] = [
            ("worker", lambda: processes.worker(SLOTS)),
            ("steward", processes.steward),
            ("web", lambda: processes.web(port=port, workers=2 if database else 1, threads=8)[0]),
        ]
        # SQLite is for one machine with one worker and one steward; PostgreSQL for any number.
        more = [starts[0], starts[1]] if database else []
        if database and wide:
            second = free_port()
            ports = (port, second)
            more.append(("up", lambda: processes.up(second)))
        roles = [Role(name, start, start()) for name, start in (*more, *starts)]
        yield Hub(
            port,
            ports,
            prepared["token"],
            prepared["approver"],
            prepared["no_sandbox"],
            lease_s,
            folder / "world",
            roles,
            processes,
            direct,
            broker,
            database,
        )
