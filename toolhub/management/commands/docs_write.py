"""`manage.py docs_write`: writes the pages of docs/ that are made from the code.

A test compares them with the files, so that they stay true.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from audit.kinds import families_declared, kinds_declared
from core.codes import CODES
from execution.engine.states import FINAL, TABLE
from execution.models import Status
from execution.run_events import RUN_EVENTS
from toolhub.env import VARIABLES
from toolhub.management.guessing_page import HEADS, guessing_page, guessing_rows
from toolhub.management.manifest_page import manifest_page
from toolhub_sdk.checks.form import published_schema

_MADE = "<!-- Made by `manage.py docs_write`; do not edit. -->\n"


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def settings_page() -> str:
    """docs/settings.md: every environment variable."""
    rows = [
        (f"`{name}`", variable.meaning, variable.default, "yes, or `_FILE`" if variable.secret else "")
        for name, variable in sorted(VARIABLES.items())
    ]
    intro = (
        "# Settings\n\nAll settings come from the environment. A bad value stops the start with a sentence "
        "that names the variable. A secret can also be read from a file that `NAME_FILE` names.\n\n"
    )
    return _MADE + intro + _table(("variable", "what it does", "default", "secret"), rows)


def errors_page() -> str:
    """docs/errors.md: every code that callers can see from the hub."""
    rows = [
        (
            f"`{c.name}`",
            c.type,
            c.severity,
            str(c.status),
            "yes" if c.recoverable else "no",
            c.meaning,
            c.remedy,
        )
        for c in CODES.values()
    ]
    intro = (
        "# Error codes\n\nThe hub's own codes. A code with HTTP status 200 stands in the `error` of a run's "
        "result; the others come as problem details (RFC 9457) with the same error object under `error`. "
        "A tool has further codes of its own, which its contract lists.\n\n"
    )
    heads = ("code", "class", "severity", "HTTP", "recoverable", "what it means", "what to do")
    return _MADE + intro + _table(heads, rows)


def states_page() -> str:
    """docs/run-states.md: the table of a run's states."""
    rows = [(m.source.value, m.target.value, m.who, m.guard) for m in TABLE]
    final = ", ".join(f"`{status.value}`" for status in Status if status in FINAL)
    intro = (
        "# A run's states\n\nA run starts as `pending` (or `awaiting_approval`); a pure built-in tool "
        f"may be written together with its outcome. Final are {final}: triggers on both databases refuse "
        "any later change of status or outcome, and any move that is not in this table.\n\n"
    )
    return _MADE + intro + _table(("from", "to", "who", "when"), rows)


def events_page() -> str:
    """docs/events.md: every kind of event of the ledger, and of a run's timeline."""
    intro = (
        "# Events\n\nThe audit log keeps an event of each call and each change, with the actor, what it is "
        "about, and data. Below, words in *italics* come from that data, and parts in [brackets] are left "
        "out where the data has nothing for them. The audit page can be narrowed to a group "
        "(`/audit/?family=access`) or a kind (`/audit/?kind=grant.created`).\n"
    )
    parts = [intro]
    for family in families_declared():
        rows = [
            (f"`{kind.name}`", ", ".join(one.name for one in kind.about), kind.sentence.usage)
            for kind in kinds_declared()
            if kind.family == family
        ]
        parts.append(f"## {family.title} (`{family.name}`)\n\n{_table(('kind', 'about', 'sentence'), rows)}")
    steps = [(f"`{kind.name}`", str(kind.number or ""), kind.sentence.usage) for kind in RUN_EVENTS.values()]
    parts.append(
        "## Timeline of a run\n\nA run has events of its own, which its page and "
        f"`GET /api/v1/runs/{{id}}/events` list in order.\n\n{_table(('event', 'number', 'sentence'), steps)}"
    )
    return _MADE + "\n".join(parts)


def manifests_page() -> str:
    """docs/manifest.md: every member of `toolhub.json`."""
    return _MADE + manifest_page()


def guessing_limits_page() -> str:
    """docs/guessing.md: every limit against guessing."""
    return _MADE + guessing_page() + _table(HEADS, guessing_rows())


PAGES = {
    "guessing.md": guessing_limits_page,
    "settings.md": settings_page,
    "errors.md": errors_page,
    "events.md": events_page,
    "run-states.md": states_page,
    "manifest.md": manifests_page,
}


# The published schema, for editors that read it from the SDK.
SCHEMA = Path(settings.ROOT, "toolhub_sdk", "toolhub.schema.json")


def schema_text() -> str:
    """toolhub_sdk/toolhub.schema.json: the schema of `toolhub.json` with the parts of all runtimes."""
    return json.dumps(published_schema(), indent=2, ensure_ascii=False) + "\n"


class Command(BaseCommand):
    help = "Writes the generated pages of docs/, and the published schema."

    def handle(self, *args: Any, **options: Any) -> None:
        for name, page in PAGES.items():
            Path(settings.ROOT, "docs", name).write_text(page(), encoding="utf-8")
            self.stdout.write(f"docs/{name}")
        SCHEMA.write_text(schema_text(), encoding="utf-8")
        self.stdout.write(str(SCHEMA.relative_to(settings.ROOT)))
