"""The epoch of rights, on PostgreSQL. See docs/adr/0014-what-a-call-writes.md."""

from typing import Any

from django.db import migrations

from execution.engine.store.epoch import epoch_statements


def _create(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        for statement in epoch_statements():
            editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = (
        ("execution", "0016_hot_rows"),
        ("policy", "0004_capabilities"),
        ("registry", "0008_content_mode"),
        ("security", "0006_switch"),
    )
    operations = (migrations.RunPython(_create, migrations.RunPython.noop),)
