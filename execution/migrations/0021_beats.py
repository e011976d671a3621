"""Leases are counted in beats, attempts say how far their effect can have gone, and waiting runs have a deadline."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from execution.engine.states import trigger_statements


def triggers(apps: Any, editor: Any) -> None:
    """Again: SQLite makes a new table of one that loses a column, without its triggers."""
    for statement in trigger_statements(editor.connection.vendor):
        editor.execute(statement, params=None)


_PROTECT: dict[str, Any] = {"on_delete": django.db.models.deletion.PROTECT}
_OF_RUN: dict[str, Any] = {"on_delete": django.db.models.deletion.CASCADE, "to": "execution.run"}
_NAMED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("run", "persona", {**_PROTECT, "related_name": "runs", "to": "security.persona"}),
    ("run", "token", {**_PROTECT, "related_name": "+", "to": "security.token", "null": True}),
    ("run", "responsible", {**_PROTECT, "related_name": "+", "to": "security.user", "null": True}),
    ("run", "tool_version", {**_PROTECT, "related_name": "runs", "to": "registry.toolversion"}),
    ("attempt", "run", {**_OF_RUN, "related_name": "attempts"}),
)


def _checked(checked: bool) -> migrations.SeparateDatabaseAndState:
    """The state alone: by it SQLite makes tables anew, and it keeps its foreign keys (migration 0016)."""
    return migrations.SeparateDatabaseAndState(
        state_operations=[
            migrations.AlterField(
                model, name, models.ForeignKey(db_index=False, db_constraint=checked, **more)
            )
            for model, name, more in _NAMED
        ]
    )


class Migration(migrations.Migration):
    dependencies = [
        ("execution", "0020_rights_of_collections"),
        ("registry", "0014_version_of"),
        ("security", "0015_key_fingerprint"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        _checked(True),
        migrations.RemoveIndex(
            model_name="run",
            name="run_leased",
        ),
        migrations.RemoveField(
            model_name="run",
            name="lease_boot",
        ),
        migrations.RemoveField(
            model_name="run",
            name="lease_ends",
        ),
        migrations.AddField(
            model_name="attempt",
            name="side_effect",
            field=models.CharField(blank=True, db_default="", default="", max_length=8),
        ),
        migrations.AddField(
            model_name="run",
            name="beat_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="beats",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="run",
            name="side_effect",
            field=models.CharField(blank=True, db_default="", default="", max_length=8),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("status", "running")), fields=["beat_at"], name="run_leased"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("status", "pending")), fields=["deadline_at"], name="run_deadline"
            ),
        ),
        _checked(False),
        migrations.RunPython(triggers, migrations.RunPython.noop),
    ]
