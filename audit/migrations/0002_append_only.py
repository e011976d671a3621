"""The ledger becomes append-only."""

from typing import Any

from django.db import migrations

from audit.triggers import triggers_create, triggers_drop


def create(apps: Any, editor: Any) -> None:
    triggers_create(editor)


def drop(apps: Any, editor: Any) -> None:
    triggers_drop(editor)


class Migration(migrations.Migration):
    dependencies = (("audit", "0001_initial"),)
    operations = (migrations.RunPython(create, drop),)
