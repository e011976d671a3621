"""How each attempt ended: its error, what it took, and how long the run waited after it."""

from django.db import migrations, models

import core.fields


class Migration(migrations.Migration):
    dependencies = (("execution", "0009_caps"),)
    operations = (
        migrations.AddField("attempt", "delay_ms", models.PositiveIntegerField(null=True)),
        migrations.AddField("attempt", "duration_ms", models.FloatField(null=True)),
        migrations.AddField("attempt", "error", core.fields.CanonicalJSONField(null=True)),
    )
