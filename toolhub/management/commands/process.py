"""`manage.py process NAME`: one process of the hub in the foreground, for containers and service managers."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from monitoring.health import health_checks
from toolhub.processes import programs
from toolhub.processes.counts import counts_forget
from toolhub.processes.data_folder import DataFolderError, folder_prepare
from toolhub.processes.database import DatabaseRefused, database_await, database_prepare, keys_check
from toolhub.processes.plan import Program
from toolhub.processes.static_files import static_prepare


class Command(BaseCommand):
    """`prepare` and `check` end; the others become the program, which gets the signals itself."""

    requires_system_checks = []
    help = "Runs one process: web, worker or steward; prepare the database; or check that it can serve."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which one, and where the web process listens."""
        parser.add_argument("name", choices=("prepare", "web", "worker", "steward", "check"))
        parser.add_argument("--host", default="127.0.0.1", help="address that web listens on")
        parser.add_argument("--port", type=int, default=8000, help="port that web listens on")

    def handle(self, *args: Any, name: str, host: str, port: int, **options: Any) -> None:
        """Does it; exit 1 where the check finds something."""
        os.umask(0o077)
        try:
            folder_prepare(settings.DATA)
        except DataFolderError as error:
            raise CommandError(str(error)) from error
        if name in {"web", "worker", "steward"}:
            self._refused(self._database_check)
        match name:
            case "prepare":
                self._refused(lambda: database_prepare(self.stdout.write, verbosity=1))
            case "check":
                self._check()
            case "web":
                static_prepare()
                counts_forget()
                workers, threads = settings.WEB_WORKERS, settings.WEB_THREADS
                self._become(programs.web(host, port, workers=workers, threads=threads))
            case "worker":
                self._become(programs.worker(concurrency=settings.WORKERS, log_level=settings.LOG_LEVEL))
            case "steward":
                self._become(programs.steward())

    def _refused(self, act: Callable[[], None]) -> None:
        """Do it; say why the database refuses."""
        try:
            act()
        except DatabaseRefused as error:
            raise CommandError(str(error)) from error

    def _check(self) -> None:
        wrong = [check.reason for check in health_checks() if not check.ok]
        if wrong:
            raise CommandError(" ".join(wrong))

    def _database_check(self) -> None:
        database_await(self.stdout.write)
        keys_check()

    def _become(self, program: Program) -> None:
        connections.close_all()
        os.environ.update(program.env, TOOLHUB_DATA=str(settings.DATA), PYTHONUNBUFFERED="1")
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolhub.settings")
        os.chdir(settings.ROOT)
        self.stdout.flush()
        sys.stdout.flush()
        os.execv(program.command[0], program.command)  # noqa: S606
