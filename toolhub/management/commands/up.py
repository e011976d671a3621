"""`manage.py up`: the whole hub on this machine, in the foreground; what `make run` calls."""

import os
import sys
from argparse import ArgumentParser
from io import StringIO
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from toolhub.checks import environment_names
from toolhub.processes import programs
from toolhub.processes.aside import Aside, Refused
from toolhub.processes.counts import counts_forget
from toolhub.processes.data_folder import DataFolderError, folder_lock, folder_prepare
from toolhub.processes.database import DatabaseRefused, database_prepare
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
            known = token_kept()
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
        banner = self._banner(address(host, port), account, known)
        sys.exit(Supervisor(Plan(started, host, port, banner, account, [lock]), say).run())

    def _prepare(self) -> str:
        """Static files, database, built-in tools and demo accounts; gives what demo_create has to say."""
        counts_forget()
        static_prepare()
        said = StringIO()
        try:
            database_prepare(say)
            call_command("demo_create", stdout=said)
        except DatabaseRefused as error:
            raise Refused(str(error)) from error
        finally:
            connections.close_all()
        return said.getvalue().strip()

    def _banner(self, local: str, account: str, known: str) -> str:
        """The lines printed once the hub answers: address, sign-in, and a first call on one line.

        The token is printed only at the start that made it: terminals and logs keep what they show.
        """
        lines = ["", f"ToolHub answers at {settings.PUBLIC_URL}"]
        lines += account.splitlines() or [
            "Sign in as admin, with the password that was shown at the first start."
        ]
        token = token_kept()
        if token and token != known:
            lines += ["", "The first call (its token is shown this once):", first_call(local, token)]
        elif token:
            lines += ["", "A call, with the token that the first start printed:", first_call(local, "$TOKEN")]
        return "\n".join([*lines, "", "Ctrl-C stops everything.", ""])


def token_kept() -> str:
    """The token of the persona `demo`, which `demo_create` keeps in the data folder; empty without one."""
    file = settings.DATA / "demo_token"
    return file.read_text(encoding="ascii").strip() if file.is_file() else ""


def first_call(address: str, token: str) -> str:
    """The curl command, on one line, that runs `echo` with this token."""
    return (
        f'curl -s -X POST {address}/api/v1/tools/echo/execute -H "Authorization: Bearer {token}" '
        """-d '{"arguments":{"text":"hello"}}'"""
    )
