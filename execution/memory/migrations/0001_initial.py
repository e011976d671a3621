"""Sessions, and memory by scope and key."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import core.fields


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("security", "0003_grant_conditions"),
    ]

    operations = [
        migrations.CreateModel(
            name="Space",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("working", "working"),
                            ("short-term", "short-term"),
                            ("long-term", "long-term"),
                        ],
                        max_length=10,
                    ),
                ),
                ("session", models.CharField(blank=True, default="", max_length=128)),
                ("loop", models.CharField(blank=True, default="", max_length=128)),
                ("keys", models.PositiveIntegerField(default=0)),
                ("bytes", models.PositiveIntegerField(default=0)),
                ("expires_at", models.DateTimeField(db_index=True, null=True)),
                (
                    "persona",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="security.persona",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=200)),
                ("value", core.fields.CanonicalJSONField(null=True)),
                ("size", models.PositiveIntegerField()),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "space",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="memory.space",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=128)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                (
                    "persona",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to="security.persona",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("persona", "name"), name="session_once")],
            },
        ),
        migrations.AddConstraint(
            model_name="space",
            constraint=models.UniqueConstraint(
                fields=("persona", "session", "scope", "loop"), name="space_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.UniqueConstraint(fields=("space", "key"), name="item_once"),
        ),
    ]
