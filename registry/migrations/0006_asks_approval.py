from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0005_database_defaults"),
    ]

    operations = [
        migrations.AddField(
            model_name="tool",
            name="asks_approval",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
