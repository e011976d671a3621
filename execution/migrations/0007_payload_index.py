"""Which runs still have their payload, without reading those that have none: a steward asks it all the time."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("execution", "0006_narrower_indexes"),)
    operations = (
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["id"], name="run_payload", condition=models.Q(payload_expired_at=None)
            ),
        ),
    )
