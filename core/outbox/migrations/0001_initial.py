"""Messages that are owed to addresses outside."""

import django.utils.timezone
from django.db import migrations, models

import core.clock


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Delivery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=core.clock.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("kind", models.CharField(max_length=40)),
                ("subject", models.UUIDField()),
                ("owner", models.CharField(max_length=64)),
                ("url", models.CharField(max_length=2000)),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "queued"), ("delivered", "delivered"), ("failed", "failed")],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("claim", models.UUIDField(null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("next_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, default="", max_length=300)),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "queued")), fields=["next_at"], name="delivery_due"
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("subject", "kind"), name="delivery_once")],
            },
        ),
    ]
