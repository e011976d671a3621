"""The epoch of rights is drawn, at the very end of a transaction, on PostgreSQL."""

from typing import Any

from django.db import migrations

from execution.engine.store.epoch import replacing_statements


def _replace(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        for statement in replacing_statements():
            editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = (("execution", "0018_recovery"),)
    operations = (migrations.RunPython(_replace, migrations.RunPython.noop),)
