"""On a collection the rights to execute and approve meant nothing beyond seeing it: they become that."""

from typing import Any

from django.db import migrations

NAMES = ("execute_collection", "approve_collection")


def forwards(apps: Any, editor: Any) -> None:
    permissions = apps.get_model("auth", "Permission").objects.filter(content_type__app_label="registry")
    view = permissions.filter(codename="view_collection").first()
    for model, holder in (("CollectionPersonRight", "user_id"), ("CollectionTeamRight", "group_id")):
        rows = apps.get_model("registry", model).objects
        for row in rows.filter(permission__codename__in=NAMES):
            if view is not None:
                key = {holder: getattr(row, holder), "content_object_id": row.content_object_id}
                rows.get_or_create(permission=view, **key)
            row.delete()
    permissions.filter(codename__in=NAMES).delete()


class Migration(migrations.Migration):
    dependencies = [("registry", "0011_collections")]

    operations = [
        migrations.AlterModelOptions(
            name="collection",
            options={
                "ordering": ("name",),
                "permissions": (("manage_collection", "Can manage this collection"),),
            },
        ),
        migrations.RunPython(forwards, migrations.RunPython.noop),
    ]
