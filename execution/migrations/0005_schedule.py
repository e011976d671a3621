"""Calls by the clock."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import core.fields


class Migration(migrations.Migration):
    dependencies = (
        ("execution", "0004_payload_expiry"),
        ("security", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    )
    operations = (
        migrations.CreateModel(
            name="Schedule",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("tool", models.CharField(max_length=64)),
                ("version", models.CharField(blank=True, default="", max_length=64)),
                ("arguments", core.fields.CanonicalJSONField(default=dict)),
                ("cron", models.CharField(max_length=120)),
                ("time_zone", models.CharField(max_length=64)),
                ("enabled", models.BooleanField(default=True)),
                ("next_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_at", models.DateTimeField(null=True)),
                ("last_error", models.CharField(blank=True, default="", max_length=300)),
                (
                    "last_run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="execution.run",
                    ),
                ),
                (
                    "persona",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="security.persona"
                    ),
                ),
                (
                    "responsible",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("enabled", True)), fields=["next_at"], name="schedule_due"
                    )
                ]
            },
        ),
    )
