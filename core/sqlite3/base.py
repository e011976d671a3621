"""The database engine `core.sqlite3`: Django looks for DatabaseWrapper here."""

import sqlite3
from typing import Any

from django.db.backends.sqlite3 import base

from core.lanes import LANE, Lanes

# SQLite has one writer. Its own way to wait for it is to try again by chance, so that of many threads some
# never have their turn: here they take turns. Other processes are still waited for by SQLite's way.
WRITERS = Lanes(1, reserve=0, patience_s=20.0)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own; transactions of this process's threads begin in the order of lanes."""

    _lane: str | None = None

    def _start_transaction_under_autocommit(self) -> None:
        if self._lane is None:
            lane = LANE.get()
            try:
                WRITERS.enter(lane)
            except TimeoutError as error:
                with self.wrap_database_errors:
                    raise sqlite3.OperationalError("database is locked") from error
            self._lane = lane
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._leave()
            raise
        WRITERS.moved()

    def _commit(self) -> Any:
        try:
            return super()._commit()  # type: ignore[misc]
        finally:
            self._leave()

    def _rollback(self) -> Any:
        try:
            return super()._rollback()  # type: ignore[misc]
        finally:
            self._leave()

    def _close(self) -> Any:
        try:
            return super()._close()  # type: ignore[misc]
        finally:
            self._leave()

    def _leave(self) -> None:
        lane, self._lane = self._lane, None
        if lane is not None:
            WRITERS.leave(lane)
