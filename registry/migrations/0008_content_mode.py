from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("registry", "0007_sanitises"),)
    operations = (
        migrations.AddField(
            "tool", "content_mode", models.CharField(blank=True, db_default="", default="", max_length=6)
        ),
    )
