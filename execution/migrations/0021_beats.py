"""Leases are counted in beats, attempts say how far their effect can have gone, and waiting runs have a deadline."""

from typing import Any

from django.conf import settings
from django.db import migrations, models

from execution.engine.states import trigger_statements


def triggers(apps: Any, editor: Any) -> None:
    """Again: SQLite makes a new table of one that loses a column, without its triggers."""
    for statement in trigger_statements(editor.connection.vendor):
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [
        ("execution", "0020_rights_of_collections"),
        ("registry", "0014_version_of"),
        ("security", "0015_key_fingerprint"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
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
        migrations.RunPython(triggers, migrations.RunPython.noop),
    ]
