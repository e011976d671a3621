from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0006_asks_approval"),
    ]

    operations = [
        migrations.AddField(
            model_name="tool",
            name="sanitises",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
