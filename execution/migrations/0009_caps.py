"""What caps are counted by, and an index in which a claim leaps from one kind of waiting work to the next."""

from typing import Any

from django.db import migrations, models

from execution.engine.states import trigger_statements


def triggers(apps: Any, editor: Any) -> None:
    # SQLite makes the table anew, without its triggers.
    for statement in trigger_statements(editor.connection.vendor):
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = (("execution", "0008_sandbox"),)
    operations = (
        migrations.RemoveIndex(model_name="run", name="run_due"),
        migrations.AddField(model_name="run", name="at_once", field=models.PositiveIntegerField(null=True)),
        migrations.AddField(
            model_name="run",
            name="session",
            field=models.CharField(blank=True, default="", max_length=128),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("status", "pending")),
                fields=["queue", "persona", "tool", "due_at", "id"],
                name="run_due",
            ),
        ),
        migrations.RunPython(triggers, migrations.RunPython.noop),
    )
