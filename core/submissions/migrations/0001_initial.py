"""Forms and requests that were carried out."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Submission",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("owner", models.CharField(max_length=80)),
                ("key", models.CharField(max_length=128)),
                ("digest", models.CharField(max_length=64)),
                ("place", models.CharField(blank=True, default="", max_length=2000)),
                ("notice", models.CharField(blank=True, default="", max_length=300)),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("owner", "key"), name="submission_once"),
                ],
            },
        ),
    ]
