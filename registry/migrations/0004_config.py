from typing import Any

from django.db import migrations, models

import core.fields


def config_mark(apps: Any, editor: Any) -> None:
    """Versions whose package has settings."""
    release, version = apps.get_model("registry", "Release"), apps.get_model("registry", "ToolVersion")
    for row in release.objects.only("manifest").iterator():
        if row.manifest.get("config"):
            version.objects.filter(release=row).update(takes_config=True)


class Migration(migrations.Migration):
    dependencies = [("registry", "0003_release_removed_at")]

    operations = [
        migrations.AddField(
            model_name="package",
            name="config",
            field=core.fields.CanonicalJSONField(
                db_default=models.Value("{}", models.TextField()), default=dict
            ),
        ),
        migrations.AddField(
            model_name="toolversion",
            name="takes_config",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(config_mark, migrations.RunPython.noop),
    ]
