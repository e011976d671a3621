import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("security", "0003_grant_conditions"),
    ]

    operations = [
        migrations.CreateModel(
            name="Secret",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("scope", models.CharField(max_length=80)),
                ("name", models.CharField(max_length=200)),
                ("sealed", models.TextField()),
                ("set_by", models.CharField(max_length=150)),
                ("set_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ("scope", "name"),
                "constraints": [models.UniqueConstraint(fields=("scope", "name"), name="secret_once")],
            },
        ),
    ]
