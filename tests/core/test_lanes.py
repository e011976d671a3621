"""Lanes: fair turns at connections, so that no class of work keeps another out."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.urls import URLPattern, URLResolver, get_resolver
from psycopg_pool import PoolTimeout

from core import handler
from core.lanes import LANE, OWN, Lanes, lane_of
from core.postgres.pool import Pool, reserve_of
from core.sqlite3 import base as sqlite
from execution.engine.submit import run_cancel
from execution.models import Run, Status
from security.models import User
from security.permissions import actor_of
from tests.execution.fixtures import MakeRun, fx, make_run

__all__ = ["fx", "make_run"]
JOIN_S = 60


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Visitor(threading.Thread):
    """A thread that takes a place, notes it, and keeps it until it is told to leave."""

    def __init__(self, among: Lanes, lane: str, order: list[str]) -> None:
        super().__init__(daemon=True)
        self.among, self.lane, self.order = among, lane, order
        self.inside, self.go = threading.Event(), threading.Event()
        self.failed: list[BaseException] = []

    def run(self) -> None:
        try:
            self.among.enter(self.lane)
        except TimeoutError as error:
            self.failed.append(error)
            return
        self.order.append(self.lane)
        self.inside.set()
        self.go.wait(JOIN_S)
        self.among.leave(self.lane)


def arrive(among: Lanes, lane: str, order: list[str]) -> Visitor:
    """A visitor that is inside, or waits in its lane."""
    before = len(among._waiting.get(lane, ()))
    visitor = Visitor(among, lane, order)
    visitor.start()
    while not visitor.inside.is_set() and len(among._waiting.get(lane, ())) == before and visitor.is_alive():
        visitor.inside.wait(0.001)
    return visitor


def patient(places: int, reserve: int, clock: Callable[[], float] | None = None) -> Lanes:
    return Lanes(places, reserve=reserve, patience_s=JOIN_S, **({"clock": clock} if clock else {}))


def test_one_lane_leaves_places_to_others() -> None:
    among, order = patient(4, 1), []
    calls = [arrive(among, "calls", order) for _ in range(50)]
    assert [one.inside.is_set() for one in calls].count(True) == 3
    assert arrive(among, "cancels", order).inside.is_set()
    assert not arrive(among, "pages", order).inside.is_set()
    calls[0].go.set()
    # The next place is not the lane's that came first: it is the one's that holds none.
    while len(order) < 5:
        calls[0].join(JOIN_S)
    assert order == ["calls"] * 3 + ["cancels", "pages"]


def test_the_hub_s_own_threads_come_first() -> None:
    among, order = patient(1, 0), []
    first = arrive(among, "calls", order)
    for lane in ("calls", "cancels", OWN):
        arrive(among, lane, order)
    first.go.set()
    first.join(JOIN_S)
    while len(order) < 2:
        first.join(0.001)
    assert order == ["calls", OWN]


def test_each_waits_in_the_order_of_coming() -> None:
    among, order = patient(1, 0), []
    numbered = [arrive(among, "calls", order) for _ in range(20)]
    for number, one in enumerate(numbered):
        assert one.inside.wait(JOIN_S)
        assert not any(later.inside.is_set() for later in numbered[number + 1 :])
        one.go.set()


def test_who_waits_goes_on_waiting_while_others_get_on_and_gives_up_when_nobody_does() -> None:
    clock = Clock()
    among = Lanes(1, reserve=0, patience_s=10, clock=clock)
    for passed, moved, left in ((5, None, 5), (12, None, 0), (12, 11, 9), (59, 58, 1), (70, 69, 0)):
        clock.now = moved if moved is not None else 0.0
        among.moved()
        clock.now = passed
        assert among._left(0.0) == left
    among.enter("calls")
    clock.now, among._patience_s = 100.0, 0
    with pytest.raises(TimeoutError):
        among.enter("calls")
    among.leave("calls")
    among.enter("calls")


@pytest.mark.parametrize(("size", "reserve"), [(1, 0), (2, 1), (5, 1), (10, 2), (200, 40)])
def test_a_pool_s_reserve(size: int, reserve: int) -> None:
    assert reserve_of(size) == reserve


def routes(resolver: URLResolver, before: str = "/") -> Iterator[str]:
    for entry in resolver.url_patterns:
        path = before + str(entry.pattern).removeprefix("^")
        if isinstance(entry, URLPattern):
            yield path
        else:
            yield from routes(entry, path)


def test_every_address_has_its_lane() -> None:
    """What starts runs waits in a lane of its own; what stops them and what looks after the hub does not."""
    found: dict[str, set[str]] = {}
    for path in routes(get_resolver()):
        found.setdefault(lane_of(path), set()).add(path)
    assert set(found) == {"calls", "cancels", "api", "health", "pages"}
    assert found["health"] == {"/livez", "/healthz", "/readyz", "/metrics"}
    assert {"/api/v1/execute", "/api/v1/tools/<str:name>/execute", "/mcp"} <= found["calls"]
    assert len(found["calls"]) <= 4
    assert "/api/v1/runs/<uuid:run_id>/cancel" in found["cancels"]


def test_a_request_is_in_its_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(handler.WSGIHandler, "__call__", lambda *_: seen.append(LANE.get()))
    kept = LANE.set(OWN)
    try:
        for path in ("/healthz", "/runs/", "/api/v1/runs/1/cancel", "/api/v1/execute"):
            handler.Handler()({"PATH_INFO": path, "REQUEST_METHOD": "GET"}, lambda *_: None)
    finally:
        LANE.reset(kept)
    assert seen == ["health", "pages", "cancels", "calls"]


@pytest.fixture
def pool(transactional_db: None) -> Iterator[Pool]:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no pool")
    params = connections["default"].get_connection_params()
    params = {name: params[name] for name in ("dbname", "user", "password", "host", "port") if name in params}
    made = Pool(kwargs={**params, "autocommit": True}, open=True, min_size=1, max_size=3, timeout=JOIN_S)
    yield made
    made.close()


def lent(pool: Pool, lane: str) -> Any:
    kept = LANE.set(lane)
    try:
        return pool.getconn()
    finally:
        LANE.reset(kept)


def test_calls_that_use_up_the_pool_leave_a_connection_to_a_cancel(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = [lent(pool, "calls") for _ in range(2)]
    monkeypatch.setattr(pool._lanes, "_patience_s", 0)
    with pytest.raises(PoolTimeout):
        lent(pool, "calls")
    for lane in ("cancels", "health", "pages", OWN):
        one = lent(pool, lane)
        assert one.execute("SELECT 1").fetchone() == (1,)
        pool.putconn(one)
    pool.putconn(held[0])
    pool.putconn(lent(pool, "calls"))
    pool.putconn(held[1])
    assert not pool._lent


@pytest.mark.django_db(transaction=True)
def test_writers_of_sqlite_take_turns(
    make_run: MakeRun, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No writer of this process ever finds the file locked by another: with no patience each still has its turn."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has many writers")
    runs = [make_run() for _ in range(40)]

    def cancel(run: Run) -> bool:
        try:
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA busy_timeout = 0")
            return run_cancel(by=actor_of(admin), run=run)
        finally:
            connection.close()

    with ThreadPoolExecutor(40) as pool:
        assert all(pool.map(cancel, runs))
    assert Run.objects.filter(status=Status.CANCELLED).count() == 40


@pytest.mark.django_db(transaction=True)
def test_a_writer_that_never_ends_is_waited_for_until_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has many writers")
    monkeypatch.setattr(sqlite.WRITERS, "_patience_s", 0)

    def write() -> None:
        try:
            with transaction.atomic():
                pass
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            connection.ensure_connection()
            with pytest.raises(OperationalError, match="locked"):
                pool.submit(write).result(JOIN_S)
        pool.submit(write).result(JOIN_S)
