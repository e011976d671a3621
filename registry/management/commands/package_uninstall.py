"""`manage.py package_uninstall NAME`: removes a package."""

import getpass
from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import VisibleCommand
from core.errors import ToolHubError
from registry.installations.services import system_actor
from registry.releases.selectors import package_named
from registry.releases.uninstall import package_uninstall


class Command(VisibleCommand):
    help = "Uninstalls a package; its runs, audit and digests stay."

    def add_arguments(self, parser: CommandParser) -> None:
        """The options."""
        parser.add_argument("name")
        parser.add_argument(
            "--force", action="store_true", help="Although schedules, packages or runs need it."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Removes it; exit code 1 with the reason when it may not be."""
        operator = system_actor(getpass.getuser()[:80])
        try:
            affected = package_uninstall(
                by=operator, package=package_named(options["name"]), force=options["force"]
            )
        except ToolHubError as error:
            needed = error.data.get("needed_by", {})
            more = "".join(f"\n  {kind}: {', '.join(names)}" for kind, names in needed.items())
            raise CommandError(f"{error.message}{more}") from error
        for line in affected.in_words():
            self.stdout.write(line)
        self.stdout.write(f"{options['name']} is uninstalled.")
