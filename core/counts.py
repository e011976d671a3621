"""Counting several things at once."""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet


def counts_read(querysets: Sequence[QuerySet[Any]]) -> list[int]:
    """How many rows each queryset has, in order, by one query for all; a slice bounds what is counted."""
    selects: list[str] = []
    values: list[Any] = []
    for queryset in querysets:
        try:
            sql, parameters = queryset.values("pk").query.sql_with_params()
        except EmptyResultSet:
            sql, parameters = "SELECT 1 WHERE 1 = 0", ()
        # The statement is Django's own; every value is a parameter.
        selects.append(f"(SELECT count(*) FROM ({sql}) counted)")  # noqa: S608
        values += parameters
    if not selects:
        return []
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(selects)}", values)
        return [int(count) for count in cursor.fetchone()]
