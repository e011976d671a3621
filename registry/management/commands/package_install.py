"""`manage.py package_install SOURCE`: installs a package here and now; needs no worker."""

import getpass
import re
import time
from argparse import BooleanOptionalAction
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import VisibleCommand
from core.errors import ToolHubError
from registry.archives.contents import BYTES_MAX, FILES_MAX, is_left_out
from registry.installations.approval import installation_approve
from registry.installations.job import job_claim
from registry.installations.models import Installation, SourceType, Status
from registry.installations.review_text import review_text
from registry.installations.services import (
    folder_contents_zip,
    installation_cancel,
    installation_start,
    system_actor,
)
from registry.installations.source_form import Source
from registry.installations.worker import job_perform

_ADDRESS = re.compile(r"[a-z+]+://|[^/]+:", re.IGNORECASE)
# So often it is looked how far a worker is that was quicker, in seconds.
LOOK_S = 0.2


class Command(VisibleCommand):
    help = "Installs a package: a folder, a .zip, or the address of a git repository or of a zip."
    _shown = 0
    """The last line of the log that was shown."""

    def add_arguments(self, parser: CommandParser) -> None:
        """The options."""
        parser.add_argument(
            "source", help="Folder, .zip, https://… or ssh address of a repository, or a zip's."
        )
        parser.add_argument("--ref", default="", help="Branch, tag or commit of the repository.")
        parser.add_argument("--path", default="", help="Folder of the package in the repository.")
        parser.add_argument("--digest", default="", help="SHA-256 of the zip at an address.")
        parser.add_argument("--team", help="The team that a new package belongs to.")
        parser.add_argument("--yes", action="store_true", help="Publish without asking.")
        parser.add_argument(
            "--reviewed", action="store_true", help="You read the code: it may run at level process."
        )
        parser.add_argument(
            "--activate",
            action=BooleanOptionalAction,
            help="Whether to put the release in use. Default: if it is newer and no pre-release.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Installs; exit code 1 with the reason when it fails."""
        operator = system_actor(getpass.getuser()[:80])
        source, content = self._source(options)
        try:
            one = installation_start(
                by=operator, source=source, content=content, team=options["team"], queued=False
            )
            one = self._go_on(one)
            if one.status == Status.AWAITING_REVIEW:
                self.stdout.write(review_text(one))
                if not options["yes"] and input("Publish it? [y/N] ").strip().lower() not in {"y", "yes"}:
                    installation_cancel(by=operator, installation=one)
                    raise CommandError("Not installed.")
                one = installation_approve(
                    by=operator,
                    installation=one,
                    digest=one.digest,
                    activate=options["activate"],
                    reviewed=options["reviewed"],
                )
                one = self._go_on(one)
        except ToolHubError as error:
            raise CommandError(error.message) from error
        if one.status != Status.PUBLISHED:
            raise CommandError(self._why(one))

    def _go_on(self, one: Installation) -> Installation:
        """Carries it out as far as it goes, or follows a worker that has it, and shows its log."""
        while one.status in {Status.QUEUED, Status.RUNNING}:
            if job := job_claim(one.pk):
                job_perform(job)
            else:
                time.sleep(LOOK_S)
            one.refresh_from_db()
            for line in one.lines.filter(seq__gt=self._shown).order_by("seq"):
                self.stdout.write(f"{line.step:>9}  {line.text}")
                self._shown = line.seq
        return one

    def _source(self, options: dict[str, Any]) -> tuple[Source, bytes | None]:
        text = options["source"]
        path = Path(text)
        named = [f"--{name}" for name in ("ref", "path", "digest") if options[name]]
        if path.is_dir() and (_is_repository(path) or options["ref"]):
            if options["digest"]:
                raise CommandError("--digest belongs to a zip at an address.")
            return Source(SourceType.GIT, path.resolve().as_uri(), options["ref"], options["path"]), None
        if path.exists() and named:
            raise CommandError(
                f"{' and '.join(named)}: only a repository has a ref and a path,"
                " and only a zip at an address a digest."
            )
        if path.is_dir():
            return Source(SourceType.FOLDER, str(path.resolve().name) or "/"), folder_contents_zip(
                _read(path)
            )
        if path.is_file():
            return Source(SourceType.UPLOAD, path.name), path.read_bytes()
        if not _ADDRESS.match(text):
            raise CommandError(f"There is no folder or file {text}, and it is no address.")
        if text.lower().partition("?")[0].endswith(".zip") and not options["digest"]:
            raise CommandError("A zip at an address needs --digest SHA256.")
        if options["digest"]:
            return Source(SourceType.URL, text, digest=options["digest"].removeprefix("sha256:")), None
        return Source(SourceType.GIT, text, options["ref"], options["path"]), None

    def _why(self, one: Installation) -> str:
        error = one.error or {}
        lines = [str(error.get("message", f"The installation is {one.status}."))]
        lines += [
            f"  {item.get('pointer') or '(top)'}: {item['message']} {item.get('remedy', '')}".rstrip()
            for item in error.get("details", {}).get("errors", [])
        ]
        return "\n".join(lines)


def _is_repository(folder: Path) -> bool:
    """Whether the folder is a repository without a working tree, as git recognises one."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _read(folder: Path) -> dict[str, bytes]:
    """The folder's regular files, links left out by refusal. Raises CommandError."""
    contents: dict[str, bytes] = {}
    total = 0
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if is_left_out(name) or (file.is_dir() and not file.is_symlink()):
            continue
        if file.is_symlink() or not file.is_file():
            raise CommandError(f"{name} is a link or a device; only files and folders are taken.")
        contents[name] = file.read_bytes()
        total += len(contents[name])
        if len(contents) > FILES_MAX or total > BYTES_MAX:
            raise CommandError(f"The folder has more than {FILES_MAX} files or {BYTES_MAX} bytes.")
    return contents
