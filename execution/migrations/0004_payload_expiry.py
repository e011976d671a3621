"""A run's payload may be removed with age: the one change of an outcome that the triggers let through."""

from typing import Any

from django.db import migrations, models

from execution.engine.states import trigger_statements


def triggers(apps: Any, editor: Any) -> None:
    for statement in trigger_statements(editor.connection.vendor):
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = (("execution", "0003_origin"),)
    operations = (
        migrations.AddField(
            model_name="run", name="payload_expired_at", field=models.DateTimeField(null=True)
        ),
        migrations.RunPython(triggers, migrations.RunPython.noop),
    )
