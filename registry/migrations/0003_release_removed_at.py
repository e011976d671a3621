from typing import Any

from django.db import migrations, models
from django.db.models import F, OuterRef, Subquery


def removed_mark(apps: Any, editor: Any) -> None:
    """What was uninstalled lost its files then."""
    package, release = apps.get_model("registry", "Package"), apps.get_model("registry", "Release")
    at = package.objects.filter(pk=OuterRef("package_id")).values("uninstalled_at")[:1]
    gone = release.objects.filter(package__uninstalled_at__isnull=False)
    gone.annotate(at=Subquery(at)).update(removed_at=F("at"))


class Migration(migrations.Migration):
    dependencies = [("registry", "0002_releases_kept")]

    operations = [
        migrations.AddField(
            model_name="release",
            name="removed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.RunPython(removed_mark, migrations.RunPython.noop),
    ]
