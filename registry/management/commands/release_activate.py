"""`manage.py release_activate NAME VERSION`: puts a release in use, forward or back."""

import getpass
from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import VisibleCommand
from core.errors import ToolHubError
from registry.installations.services import system_actor
from registry.releases.activation import release_activate
from registry.releases.selectors import package_named, release_named
from registry.versions import relation


class Command(VisibleCommand):
    help = "Puts a release of a package in use; calls that name no version get it from the next one on."

    def add_arguments(self, parser: CommandParser) -> None:
        """The options."""
        parser.add_argument("name")
        parser.add_argument("version")

    def handle(self, *args: Any, **options: Any) -> None:
        """Activates it; exit code 1 with the reason when it cannot be."""
        operator = system_actor(getpass.getuser()[:80])
        try:
            package = package_named(options["name"])
            before = package.active.version if package.active else None
            release = release_named(package, options["version"])
            release_activate(by=operator, release=release)
        except ToolHubError as error:
            raise CommandError(error.message) from error
        older = before is not None and relation(release.version, before) == "older"
        self.stdout.write(f"{release} is in use." + (f" Rolled back from {before}." if older else ""))
