"""How processes that go on by themselves log that the database fails them."""

import logging

from django.db import DatabaseError, InterfaceError, OperationalError


def database_failure_log(log: logging.Logger, doing: str, error: DatabaseError | InterfaceError) -> None:
    """One line where the database is away, for it comes again and again; the whole trace of anything else."""
    if isinstance(error, OperationalError | InterfaceError):
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        log.warning("%s waits for the database: %s", doing, first)
    else:
        log.error("%s failed", doing, exc_info=error)
