"""The base of commands that print text from outside."""

import sys
from typing import Any, TextIO

from django.core.management.base import BaseCommand

from toolhub_sdk.visible_text import VisibleStream


class VisibleCommand(BaseCommand):
    """A command whose output and errors show control and bidirectional characters as escapes."""

    def __init__(self, stdout: TextIO | None = None, stderr: TextIO | None = None, **options: Any) -> None:
        out, err = VisibleStream(stdout or sys.stdout), VisibleStream(stderr or sys.stderr)
        super().__init__(stdout=out, stderr=err, no_color=True)  # type: ignore[arg-type]

    def execute(self, *args: Any, **options: Any) -> str | None:
        """As Django's, with the streams that a caller gives made visible, too."""
        given = {name: VisibleStream(options[name]) for name in ("stdout", "stderr") if options.get(name)}
        return super().execute(*args, **{**options, **given})
