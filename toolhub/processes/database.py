"""The database before a process starts: waited for, and prepared by one process at a time."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, OperationalError, connection

from security.keys import KeysMissing, keys_record

Say = Callable[[str], None]
LOOK_S = 0.2
# Any number that no other advisory lock has.
LOCK = 0x70726570
# A server that says so will not say otherwise in a minute.
_FINAL = ("authentication failed", "does not exist", "pg_hba.conf", "could not translate host name")


class DatabaseRefused(Exception):
    """The message is a sentence for the person who starts the hub."""


def database_await(say: Say) -> None:
    """Wait until the database takes connections, TOOLHUB_DATABASE_WAIT_S at most. Raises DatabaseRefused."""
    ends, is_said = time.monotonic() + settings.DATABASE_WAIT_S, False
    while True:
        try:
            connection.ensure_connection()
        except OperationalError as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
            if time.monotonic() >= ends or any(words in str(error) for words in _FINAL):
                raise DatabaseRefused(
                    f"The database does not answer: {reason} "
                    "Check TOOLHUB_DATABASE_URL and that the database runs."
                ) from error
            if not is_said:
                say(f"Waiting for the database, {settings.DATABASE_WAIT_S} s at most: {reason}")
                is_said = True
            time.sleep(LOOK_S)
        else:
            return


def database_prepare(say: Say, *, verbosity: int = 0) -> None:
    """Migrate, publish the built-in tools, and record the hub's keys. Raises DatabaseRefused."""
    try:
        database_await(say)
        with _alone(say):
            call_command("migrate", interactive=False, verbosity=verbosity)
            keys_check()
            call_command("catalogue_sync", stdout=None if verbosity else StringIO())
    except DatabaseError as error:
        raise DatabaseRefused(
            f"The database does not answer as it should: {str(error).strip().splitlines()[0]} "
            "Check TOOLHUB_DATABASE_URL and that the database runs."
        ) from error


def keys_check() -> None:
    """Record this process's keys. Raises DatabaseRefused when it lacks one of the hub's."""
    try:
        keys_record()
    except KeysMissing as error:
        raise DatabaseRefused(str(error)) from error


@contextmanager
def _alone(say: Say) -> Iterator[None]:
    """Keep others from preparing the same database meanwhile; wait for one that does."""
    take = _advisory if connection.vendor == "postgresql" else _file
    with take() as is_mine:
        is_said = False
        while not is_mine():
            if not is_said:
                say("Another process prepares the database; waiting for it.")
                is_said = True
            # Asked again and again: one that waits in a statement would keep some migrations waiting.
            time.sleep(LOOK_S)
        yield


@contextmanager
def _advisory() -> Iterator[Callable[[], bool]]:
    def is_mine() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
            return bool(cursor.fetchone()[0])

    try:
        yield is_mine
    finally:
        # The session's end would give it back, too.
        if connection.connection is not None and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock_all()")


@contextmanager
def _file() -> Iterator[Callable[[], bool]]:
    lock = os.open(f"{Path(connection.settings_dict['NAME'])}.prepare", os.O_RDWR | os.O_CREAT, 0o600)

    def is_mine() -> bool:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    try:
        yield is_mine
    finally:
        os.close(lock)
