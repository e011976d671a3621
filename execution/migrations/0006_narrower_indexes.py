"""Three foreign keys without an index of their own: another index begins with the same column."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from execution.engine.states import trigger_statements


def triggers(apps: Any, editor: Any) -> None:
    # SQLite makes the table anew, without its triggers.
    for statement in trigger_statements(editor.connection.vendor):
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = (("execution", "0005_schedule"),)
    operations = (
        migrations.AlterField(
            model_name="attempt",
            name="run",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="attempts",
                to="execution.run",
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="persona",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="runs",
                to="security.persona",
            ),
        ),
        migrations.AlterField(
            model_name="runevent",
            name="run",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="events",
                to="execution.run",
            ),
        ),
        migrations.RunPython(triggers, migrations.RunPython.noop),
    )
