"""A run may wait for a person or for a fallback and end with either, which its triggers let through."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from execution.engine.states import trigger_statements


def triggers(apps: Any, editor: Any) -> None:
    for statement in trigger_statements(editor.connection.vendor):
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [
        ("execution", "0017_rights_epoch"),
    ]

    operations = [
        migrations.AlterField(
            model_name="run",
            name="status",
            field=models.CharField(
                choices=[
                    ("awaiting_approval", "awaiting_approval"),
                    ("pending", "pending"),
                    ("running", "running"),
                    ("waiting_retry", "waiting_retry"),
                    ("waiting_steps", "waiting_steps"),
                    ("awaiting_person", "awaiting_person"),
                    ("outcome_unknown", "outcome_unknown"),
                    ("completed", "completed"),
                    ("failed", "failed"),
                    ("timeout", "timeout"),
                    ("cancelled", "cancelled"),
                ],
                max_length=20,
            ),
        ),
        migrations.CreateModel(
            name="Recovery",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("escalates_at", models.DateTimeField(null=True)),
                ("escalates_to", models.CharField(blank=True, default="", max_length=150)),
                ("escalated_at", models.DateTimeField(null=True)),
                (
                    "child",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="execution.run",
                    ),
                ),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="recovery",
                        to="execution.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("escalates_at__isnull", False)),
                        fields=["escalates_at"],
                        name="recovery_escalates",
                    )
                ],
            },
        ),
        migrations.RunPython(triggers, migrations.RunPython.noop),
    ]
