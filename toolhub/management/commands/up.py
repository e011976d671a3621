"""`manage.py up`: the whole hub on this machine, in the foreground; what `make run` calls."""

import os
import shutil
import sys
import tempfile
from argparse import ArgumentParser
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections

from toolhub.checks import environment_names
from toolhub.processes import programs
from toolhub.processes.data_folder import DataFolderError, folder_lock, folder_prepare
from toolhub.processes.plan import Plan
from toolhub.processes.ports import PortError, port_check
from toolhub.processes.static_files import static_prepare


class Command(BaseCommand):
    # The full checks load every page, which costs a second at each start; `make check` runs them.
    requires_system_checks = []
    help = "Prepares the data folder, then runs web, worker and steward until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (default 8000)")

    def handle(self, *_args: Any, host: str, port: int, **_options: Any) -> None:
        # All that the hub writes is for its own account only.
        os.umask(0o077)
        for warning in environment_names(None):
            self.stderr.write(f"{warning.msg} {warning.hint}")
        try:
            folder_prepare(settings.DATA)
            lock = folder_lock(settings.DATA)
            port_check(host, port)
        except (DataFolderError, PortError) as error:
            raise CommandError(str(error)) from error
        url = os.environ.setdefault("TOOLHUB_URL", f"http://{_shown(host)}:{port}")
        static_prepare()
        account = self._prepare_rows()
        banner = self._banner(url, f"http://{_shown(host)}:{port}", account)
        self._supervise(host, port, lock, banner, account)

    def _prepare_rows(self) -> str:
        """Database, built-in tools and demo accounts; gives what demo_create has to say."""
        said = StringIO()
        try:
            call_command("migrate", interactive=False, verbosity=0)
            call_command("catalogue_sync", verbosity=0, stdout=StringIO())
            call_command("demo_create", stdout=said)
        except DatabaseError as error:
            raise CommandError(
                f"The database does not answer as it should: {str(error).strip().splitlines()[0]} "
                "Check TOOLHUB_DATABASE_URL and that the database runs."
            ) from error
        finally:
            connections.close_all()
        return said.getvalue().strip()

    def _banner(self, url: str, local: str, account: str) -> str:
        """What is said when the hub answers: where, who, and the first call on one line."""
        lines = ["", f"ToolHub answers at {url}"]
        lines += account.splitlines() or [
            "Sign in as admin, with the password that was shown at the first start."
        ]
        token = settings.DATA / "demo_token"
        if token.is_file():
            lines += ["", "The first call:", first_call(local, token.read_text().strip())]
        return "\n".join([*lines, "", "Ctrl-C stops everything.", ""])

    def _supervise(self, host: str, port: int, lock: int, banner: str, account: str) -> None:
        """Becomes the supervisor, which is small; the pid stays. Does not return."""
        metrics = Path(os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(settings.DATA / "metrics")))
        if metrics == settings.DATA / "metrics":
            shutil.rmtree(metrics, ignore_errors=True)
        metrics.mkdir(parents=True, exist_ok=True)
        os.environ.update(TOOLHUB_DATA=str(settings.DATA), PYTHONUNBUFFERED="1")
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolhub.settings")
        plan = Plan(
            [
                programs.web(host, port, workers=settings.WEB_WORKERS, threads=settings.WEB_THREADS),
                programs.worker(concurrency=settings.WORKERS, log_level=settings.LOG_LEVEL),
                programs.steward(settings.ROOT),
            ],
            host,
            port,
            banner,
            account,
            [lock],
        )
        with tempfile.TemporaryFile("w") as file:
            file.write(plan.dump())
            file.flush()
            file.seek(0)
            os.set_inheritable(file.fileno(), True)
            os.set_inheritable(lock, True)
            os.chdir(settings.ROOT)
            self.stdout.flush()
            command = [sys.executable, "-m", "toolhub.processes", str(file.fileno())]
            os.execv(sys.executable, command)  # noqa: S606


def first_call(address: str, token: str) -> str:
    """The curl command, on one line, that runs `echo` with this token."""
    return (
        f'curl -s -X POST {address}/api/v1/tools/echo/execute -H "Authorization: Bearer {token}" '
        """-d '{"arguments":{"text":"hello"}}'"""
    )


def _shown(host: str) -> str:
    """The host as an address names it; 0.0.0.0 and :: are reached at this machine's own."""
    own = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104
    return own.get(host, f"[{host}]" if ":" in host else host)
