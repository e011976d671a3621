"""What a run names is kept by the database, though no INSERT of a run is checked against it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from execution.models import Run
from registry.models import Package

Call = Callable[..., Any]
NAMED = {
    "security_persona": "persona_id",
    "security_token": "token_id",
    "registry_toolversion": "tool_version_id",
    "execution_run": "id",
}


def delete(table: str, key: object) -> None:
    """Deletes a row past Django, and has what waits for the commit checked now."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE id = %s", [key])
    connection.check_constraints()


@pytest.mark.django_db
@pytest.mark.parametrize("table", NAMED)
def test_what_a_run_names_cannot_be_deleted(call: Call, fx: Package, tmp_path: Any, table: str) -> None:
    body = {"arguments": {"file": str(tmp_path / "world")}, "limits": {"timeoutMs": 1000}}
    assert call("fx_count", body=body).status_code == 200
    run = Run.objects.get()
    assert run.events.exists()
    number = getattr(run, NAMED[table])
    key = number.hex if connection.vendor == "sqlite" and table == "execution_run" else number
    with pytest.raises(IntegrityError), transaction.atomic():
        delete(table, key)
    assert Run.objects.filter(pk=run.pk).exists()
