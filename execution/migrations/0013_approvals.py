import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import core.clock


class Migration(migrations.Migration):
    dependencies = [
        ("execution", "0012_preconditions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="run",
            options={
                "permissions": (
                    ("resolve_run", "Can say what became of a run whose outcome is unknown"),
                    ("approve_run", "Can approve and deny calls that wait for it"),
                )
            },
        ),
        migrations.CreateModel(
            name="Approval",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=core.clock.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("binding", models.BinaryField(max_length=32)),
                ("why", models.CharField(max_length=500)),
                ("asked_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                (
                    "decision",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("approved", "approved"),
                            ("denied", "denied"),
                            ("expired", "expired"),
                            ("withdrawn", "withdrawn"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                ("decided_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=500)),
                (
                    "decided_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "delegate",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="approval",
                        to="execution.run",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("decision", "")), fields=["expires_at"], name="approval_open"
                    )
                ],
            },
        ),
    ]
