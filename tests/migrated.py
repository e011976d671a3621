"""Databases as the migrations leave them: made once by tests/run.py, and copied wherever a new one is wanted.

To migrate takes longer than most suites' longest test. Without tests/run.py each database is migrated on its own.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.services import POSTGRES, ROOT, database_url

# Where the file stands that SQLite's are copied from, and what PostgreSQL's template is called.
FILE, TEMPLATE = "TOOLHUB_TEST_MIGRATED", "TOOLHUB_TEST_TEMPLATE"


def migrated_make(folder: Path, *, postgres: bool) -> dict[str, str]:
    """Makes them, both at once; what tells the tests of them. The folder is new, and one of the hub's data."""
    url = database_url("migrated")
    told, urls = {FILE: str(folder / "toolhub.sqlite3")}, [""]
    if postgres:
        name = urlsplit(url).path[1:]
        migrated_drop()
        _as_owner(f'CREATE DATABASE "{name}"')
        told[TEMPLATE] = name
        urls.append(url)
    folder.mkdir(mode=0o700)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("TOOLHUB_", "DJANGO_"))}
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0", "--skip-checks"]
    begun = [
        subprocess.Popen(
            command,
            cwd=ROOT,
            env={**clean, "TOOLHUB_DATA": str(folder)} | ({"TOOLHUB_DATABASE_URL": one} if one else {}),
        )
        for one in urls
    ]
    codes = [process.wait() for process in begun]
    if any(codes):
        raise SystemExit("The databases of the tests could not be migrated.")
    return told


def migrated_drop() -> None:
    """Removes PostgreSQL's."""
    _as_owner(f'DROP DATABASE IF EXISTS "{urlsplit(database_url("migrated")).path[1:]}"')


def migrated_copy(target: Path) -> bool:
    """Puts a copy there, if there is one to copy, into a folder that is open to nobody else; whether there was."""
    target.parent.mkdir(mode=0o700, exist_ok=True)
    if made := os.environ.get(FILE):
        shutil.copyfile(made, target)
    return made is not None


def _as_owner(statement: str) -> None:
    url = urlunsplit(urlsplit(POSTGRES)._replace(scheme="postgresql", path="/postgres"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)
