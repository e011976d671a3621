"""An outcome never changes, and a status only as the table of states has it."""

from typing import Any

from django.db import migrations

from execution.engine.states import trigger_statements


def create(apps: Any, editor: Any) -> None:
    for statement in trigger_statements(editor.connection.vendor, expiring=False):
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = (("execution", "0001_initial"),)
    operations = (migrations.RunPython(create, migrations.RunPython.noop),)
