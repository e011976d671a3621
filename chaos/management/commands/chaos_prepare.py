"""`manage.py chaos_prepare FILE`: makes tables, tools, personas and a schedule; prints tokens as JSON."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import CommandError, call_command
from django.core.management.base import BaseCommand

from execution.entry.schedules.services import schedule_create
from registry.catalogue import catalogue_sync
from registry.models import Package
from registry.services import assignment_create
from security.models import User
from security.services import grant_create, persona_create, token_create
from security.signing import signing_secret_create

# A package whose tool runs in the sandbox.
SANDBOXED = Path("examples/prime-factors")


class Command(BaseCommand):
    help = "Makes tables, tools, a persona that calls them, one that approves, and a schedule; prints tokens."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the file that the tools of the world write to")

    def handle(self, *args: Any, file: str, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        catalogue_sync(settings.CATALOGUE)
        admin, second = (User.objects.create_superuser(name) for name in ("admin", "second"))
        sandboxed = ""
        try:
            call_command("package_install", str(settings.ROOT / SANDBOXED), yes=True, stdout=self.stderr)
        except CommandError as error:
            sandboxed = str(error)
        persona = persona_create(by=admin, name="chaos")
        for package in Package.objects.all():
            assignment_create(by=admin, persona=persona, package=package)
        signing_secret_create(by=admin, persona=persona)
        schedule_create(
            by=admin,
            name="Chaos",
            persona=persona,
            tool="world_again",
            arguments={"file": file},
            cron="* * * * *",
            time_zone="UTC",
        )
        # Nobody approves calls that they answer for: another person does.
        approver = persona_create(by=second, name="approver")
        grant_create(by=second, persona=approver, capability="toolhub:approvals", reason="chaos")
        tokens = {
            "token": token_create(by=admin, persona=persona, name="chaos")[1],
            "approver": token_create(by=second, persona=approver, name="chaos")[1],
            "no_sandbox": sandboxed,
        }
        self.stdout.write(json.dumps(tokens))
