"""Nothing asks the ledger for a time alone; ids are in its order."""

from typing import Any

from django.db import migrations, models


def _index_drop(apps: Any, editor: Any) -> None:
    # By hand: SQLite would make the table anew for it, without the triggers that keep the ledger.
    with editor.connection.cursor() as cursor:
        found = editor.connection.introspection.get_constraints(cursor, "audit_event")
    for name, facts in found.items():
        if facts["index"] and facts["columns"] == ["at"]:
            editor.execute(f'DROP INDEX "{name}"')


class Migration(migrations.Migration):
    dependencies = (("audit", "0002_append_only"),)
    operations = (
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(_index_drop, migrations.RunPython.noop)],
            state_operations=[migrations.AlterField("event", "at", models.DateTimeField())],
        ),
    )
