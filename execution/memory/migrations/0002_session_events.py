"""Events of sessions, and the webhooks that get them."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import core.clock
import core.fields


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0001_initial"),
        ("security", "0005_output_patterns"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="events_count",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.CreateModel(
            name="SessionEvent",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=core.clock.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("seq", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=120)),
                ("payload", core.fields.CanonicalJSONField(null=True)),
                ("run_id", models.UUIDField()),
                ("tool", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="memory.session",
                    ),
                ),
            ],
            options={
                "ordering": ("seq",),
            },
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("url", models.CharField(max_length=2000)),
                ("events", core.fields.CanonicalJSONField(default=list)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "persona",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="webhooks",
                        to="security.persona",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="WebhookCall",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=core.clock.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "event",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="calls",
                        to="memory.sessionevent",
                    ),
                ),
                (
                    "webhook",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="calls", to="memory.webhook"
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="sessionevent",
            constraint=models.UniqueConstraint(fields=("session", "seq"), name="session_event_once"),
        ),
    ]
