from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("security", "0005_output_patterns"),
    ]

    operations = [
        migrations.CreateModel(
            name="Switch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=40, unique=True)),
                ("on", models.BooleanField(default=True)),
            ],
            options={
                "verbose_name_plural": "switches",
            },
        ),
    ]
