"""Runs that repeat another, runs without a token, and the right to resolve one whose outcome is unknown."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from execution.engine.states import trigger_statements


def triggers(apps: Any, editor: Any) -> None:
    for statement in trigger_statements(editor.connection.vendor, expiring=False):
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = (
        ("execution", "0002_guard"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    )
    operations = (
        migrations.AlterModelOptions(
            name="run",
            options={
                "permissions": (("resolve_run", "Can say what became of a run whose outcome is unknown"),)
            },
        ),
        migrations.AddField(
            model_name="run",
            name="origin",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="repeats",
                to="execution.run",
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="responsible",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("origin__isnull", False)), fields=["origin"], name="run_origin"
            ),
        ),
        migrations.RunPython(triggers, migrations.RunPython.noop),
    )
