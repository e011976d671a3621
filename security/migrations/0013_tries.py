from datetime import UTC, datetime

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("security", "0012_names_in_normal_form"),
    ]

    operations = [
        migrations.CreateModel(
            name="Tries",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("level", models.FloatField(default=0)),
                ("counted_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "free_at",
                    models.DateTimeField(default=datetime(2000, 1, 1, tzinfo=UTC)),
                ),
                (
                    "ends_at",
                    models.DateTimeField(db_index=True, default=datetime(2000, 1, 1, tzinfo=UTC)),
                ),
            ],
            options={
                "verbose_name_plural": "tries",
            },
        ),
    ]
