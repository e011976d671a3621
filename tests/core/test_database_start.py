"""The start waits for a database that is starting, and one process at a time prepares it."""

import fcntl
import os
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection

from tests.processes import database_url
from toolhub.processes import database
from toolhub.processes.database import DatabaseRefused, database_await


@pytest.fixture
def elsewhere(transactional_db: None) -> Iterator[dict[str, Any]]:
    """This thread's connection leads to a port at which nobody listens."""
    if connection.vendor != "postgresql":
        pytest.skip("a file does not start")
    settings = connection.settings_dict
    kept = {name: settings[name] for name in ("HOST", "PORT", "NAME")}
    connection.close()
    settings.update(HOST="127.0.0.1", PORT="1")
    yield kept
    connection.close()
    settings.update(kept)


def test_a_database_that_does_not_answer_yet_is_waited_for(elsewhere: dict[str, Any]) -> None:
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        # Now it has started.
        connection.settings_dict.update(elsewhere)

    database_await(say)
    [line] = said
    assert line.startswith("Waiting for the database, 60 s at most: ")
    assert connection.is_usable()


def test_the_wait_ends(elsewhere: dict[str, Any], settings: Any) -> None:
    settings.DATABASE_WAIT_S = 0
    with pytest.raises(DatabaseRefused, match="The database does not answer"):
        database_await(lambda _text: None)


def test_a_database_that_does_not_exist_is_not_waited_for(elsewhere: dict[str, Any]) -> None:
    connection.settings_dict.update(elsewhere, NAME="there_is_none")
    with pytest.raises(DatabaseRefused, match="does not exist"):
        database_await(pytest.fail)


@pytest.mark.django_db(transaction=True)
def test_who_comes_second_waits_until_the_first_has_prepared() -> None:
    said: list[str] = []
    if connection.vendor == "postgresql":
        first = psycopg.connect(database_url(), autocommit=True)
        first.execute("SELECT pg_advisory_lock(%s)", [database.LOCK])
        end = first.close
    else:
        file = os.open(f"{connection.settings_dict['NAME']}.prepare", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        end = lambda: os.close(file)  # noqa: E731

    def say(text: str) -> None:
        said.append(text)
        end()

    with database._alone(say):
        assert said == ["Another process prepares the database; waiting for it."]
