"""Runs that follow from another."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from execution.engine.states import trigger_statements


def triggers(apps: Any, editor: Any) -> None:
    # SQLite makes the table anew, without its triggers.
    for statement in trigger_statements(editor.connection.vendor):
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = (("execution", "0013_approvals"),)
    operations = (
        migrations.AddField("run", "depth", models.PositiveSmallIntegerField(db_default=0, default=0)),
        migrations.AddField(
            "run",
            "parent",
            models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="children",
                to="execution.run",
            ),
        ),
        migrations.AddField("run", "root", models.UUIDField(null=True)),
        migrations.AddIndex(
            "run",
            models.Index(condition=models.Q(("parent__isnull", False)), fields=["parent"], name="run_parent"),
        ),
        migrations.AddIndex(
            "run",
            models.Index(condition=models.Q(("root__isnull", False)), fields=["root"], name="run_root"),
        ),
        migrations.RunPython(triggers, migrations.RunPython.noop),
    )
