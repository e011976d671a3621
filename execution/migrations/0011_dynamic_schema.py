"""Schemas of arguments that depend on the context."""

from django.db import migrations, models

import core.fields


class Migration(migrations.Migration):
    dependencies = (("execution", "0010_attempt_ends"), ("registry", "0003_release_removed_at"))
    operations = (
        migrations.CreateModel(
            "DynamicSchema",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "tool_version",
                    models.ForeignKey(
                        "registry.toolversion", models.CASCADE, related_name="+", db_index=False
                    ),
                ),
                ("key", models.BinaryField(max_length=32)),
                ("schema", core.fields.CanonicalJSONField()),
                ("run_id", models.UUIDField()),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "constraints": (
                    models.UniqueConstraint(fields=["tool_version", "key"], name="dynamic_schema_once"),
                )
            },
        ),
    )
