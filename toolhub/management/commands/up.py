"""`manage.py up`: the whole hub on this machine, in the foreground; what `make run` calls."""

import os
import sys
from argparse import ArgumentParser
from io import StringIO
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections

from toolhub.checks import environment_names
from toolhub.processes import programs
from toolhub.processes.aside import Aside, Refused
from toolhub.processes.counts import counts_forget
from toolhub.processes.data_folder import DataFolderError, folder_lock, folder_prepare
from toolhub.processes.environment import address, arguments_add
from toolhub.processes.loading import load
from toolhub.processes.plan import Plan
from toolhub.processes.ports import PortError, port_check
from toolhub.processes.static_files import static_prepare
from toolhub.processes.supervisor import Supervisor, say


class Command(BaseCommand):
    # The full checks load every page, which costs a second at each start; `make check` runs them.
    requires_system_checks = []
    help = "Prepares the data folder, then runs web, worker and steward until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        arguments_add(parser)

    def handle(self, *_args: Any, host: str, port: int, **_options: Any) -> None:
        # All that the hub writes is for its own account only.
        os.umask(0o077)
        for warning in environment_names(None):
            self.stderr.write(f"{warning.msg} {warning.hint}")
        try:
            folder_prepare(settings.DATA)
            lock = folder_lock(settings.DATA)
            port_check(host, port)
            preparation = Aside("prepare", self._prepare)
            load()
            account = preparation.result()
        except (DataFolderError, PortError, Refused) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            sys.exit(1)
        os.chdir(settings.ROOT)
        started = [
            programs.web(host, port, workers=settings.WEB_WORKERS, threads=settings.WEB_THREADS),
            programs.worker(concurrency=settings.WORKERS, log_level=settings.LOG_LEVEL),
            programs.steward(),
        ]
        banner = self._banner(address(host, port), account)
        sys.exit(Supervisor(Plan(started, host, port, banner, account, [lock]), say).run())

    def _prepare(self) -> str:
        """Static files, database, built-in tools and demo accounts; gives what demo_create has to say."""
        counts_forget()
        static_prepare()
        said = StringIO()
        try:
            call_command("migrate", interactive=False, verbosity=0)
            call_command("catalogue_sync", verbosity=0, stdout=StringIO())
            call_command("demo_create", stdout=said)
        except DatabaseError as error:
            raise Refused(
                f"The database does not answer as it should: {str(error).strip().splitlines()[0]} "
                "Check TOOLHUB_DATABASE_URL and that the database runs."
            ) from error
        finally:
            connections.close_all()
        return said.getvalue().strip()

    def _banner(self, local: str, account: str) -> str:
        """What is said when the hub answers: where, who, and the first call on one line."""
        lines = ["", f"ToolHub answers at {settings.PUBLIC_URL}"]
        lines += account.splitlines() or [
            "Sign in as admin, with the password that was shown at the first start."
        ]
        token = settings.DATA / "demo_token"
        if token.is_file():
            lines += ["", "The first call:", first_call(local, token.read_text().strip())]
        return "\n".join([*lines, "", "Ctrl-C stops everything.", ""])


def first_call(address: str, token: str) -> str:
    """The curl command, on one line, that runs `echo` with this token."""
    return (
        f'curl -s -X POST {address}/api/v1/tools/echo/execute -H "Authorization: Bearer {token}" '
        """-d '{"arguments":{"text":"hello"}}'"""
    )
