from django.db import migrations, models

import core.fields


class Migration(migrations.Migration):
    dependencies = (("registry", "0008_content_mode"),)
    operations = (
        migrations.AddField(
            "tool",
            "rules",
            core.fields.CanonicalJSONField(db_default=models.Value("[]", models.TextField()), default=list),
        ),
    )
