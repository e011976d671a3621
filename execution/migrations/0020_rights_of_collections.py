"""A change of collections and their members replaces the epoch of rights, on PostgreSQL."""

from typing import Any

from django.db import migrations

from execution.engine.store.epoch import COLLECTIONS, watching_statements


def _create(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        for statement in watching_statements(COLLECTIONS):
            editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = (("execution", "0019_rights_epoch_drawn"), ("registry", "0011_collections"))
    operations = (migrations.RunPython(_create, migrations.RunPython.noop),)
