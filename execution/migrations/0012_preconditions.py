"""What was checked before a run, and the runs of a session by tool."""

from typing import Any

from django.db import migrations, models

import core.fields
from execution.engine.states import trigger_statements


def triggers(apps: Any, editor: Any) -> None:
    # SQLite may make the table anew, without its triggers.
    for statement in trigger_statements(editor.connection.vendor):
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = (("execution", "0011_dynamic_schema"),)
    operations = (
        migrations.AddField("run", "preconditions", core.fields.CanonicalJSONField(null=True)),
        migrations.AddIndex(
            "run",
            models.Index(
                condition=models.Q(("status", "completed"), models.Q(("session", ""), _negated=True)),
                fields=["persona", "session", "tool"],
                name="run_in_session",
            ),
        ),
        migrations.RunPython(triggers, migrations.RunPython.noop),
    )
