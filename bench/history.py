"""A hub with a million old runs against a new one: the way over the workers, and reading, in turns."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.arms import ARMS, BATCH
from bench.checkout import HERE
from bench.database import Database, kept
from bench.hub import OUTCOMES, WORKERS, hub_of

OLD = 1_000_000
# Each old run is a copy of one that the hub itself made, a second apart, with what belongs to it.
# From one moment for all tables: what belongs together is found by it.
_NEWEST = int(time.time()) - 60 * 24 * 3600
_AGED = f"to_timestamp({_NEWEST} - old.number)"
_MS = f"lpad(to_hex(({_NEWEST} - old.number)::bigint * 1000), 12, '0')"
_RANDOM = "substr(md5(old.number::text), 1, 3) || '8' || substr(md5(old.number::text), 4, 15)"
_ID = f"({_MS} || '7' || {_RANDOM})::uuid"
_TIMES = ("created_at", "due_at", "started_at", "completed_at", "at", "claimed_at", "finished_at")
_COPIED = ("execution_run", "execution_attempt", "execution_runevent", "audit_event")


@dataclass
class History:
    """Runs per second of each round, in a new hub and in one with old runs; how long these took to write."""

    new: list[float] = field(default_factory=list)
    old: list[float] = field(default_factory=list)
    seeded_s: float = 0.0
    faults: list[str] = field(default_factory=list)

    def ratios(self) -> list[float]:
        """Old over new of each round."""
        return [old / new for old, new in zip(self.old, self.new, strict=True)]


def measure(new: Database, aged: Database, folder: Path, *, rounds: int) -> History:
    """Measures on two databases of its own; both must have an address."""
    found, arm = History(), ARMS["queued"]
    with hub_of(HERE, new, folder / "new") as young, hub_of(HERE, aged, folder / "old") as old:
        before = new.number(OUTCOMES)
        for hub in (young, old):
            hub.batch(arm, 2 * WORKERS)
        begun = time.perf_counter()
        history_write(aged)
        found.seeded_s = time.perf_counter() - begun
        for number in range(rounds):
            for hub in (young, old) if number % 2 == 0 else (old, young):
                (found.new if hub is young else found.old).append(hub.batch(arm))
        found.faults = kept(new.number).faults(before + 2 * WORKERS + rounds * BATCH)
    return found


def history_write(database: Database) -> None:
    """Copies one finished run with attempt, events and ledger a million times into the past."""
    one = "(SELECT id FROM execution_run WHERE status = 'completed' ORDER BY id DESC LIMIT 1)"
    for table in _COPIED:
        columns = database.words(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public'"
            f" AND table_name = '{table}' AND NOT (column_name = 'id' AND data_type <> 'uuid')"
        )
        values = ", ".join(_value(table, column) for column in columns)
        owner = "id" if table == "execution_run" else "run_id"
        names = ", ".join(f'"{column}"' for column in columns)
        source = f'{table} t, generate_series(1, {OLD}) old(number) WHERE t."{owner}" = {one}'
        database.execute(f"INSERT INTO {table} ({names}) SELECT {values} FROM {source}")
    database.execute("VACUUM ANALYZE")


def _value(table: str, column: str) -> str:
    if column == "run_id" or (table, column) == ("execution_run", "id"):
        return _ID
    if column == "token_id" or column.endswith("lease_token"):
        return f't."{column}"'
    if column in _TIMES:
        return _AGED
    if (table, column) == ("audit_event", "leaf"):
        return "sha256((old.number::text || t.kind)::bytea)"
    return f't."{column}"'


def history_lines(found: History) -> list[str]:
    """The figures for people."""
    ratios = found.ratios()
    return [
        (
            f"Accepted, carried out by a worker of {WORKERS} and recorded, with {OLD:,} old runs and "
            f"with none (written in {found.seeded_s:.0f} s); medians of {len(ratios)} runs in turns"
        ),
        f"  with none {median(found.new):.0f} runs/s, with old ones {median(found.old):.0f} runs/s",
        f"  old / new {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
    ]
