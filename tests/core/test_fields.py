"""CanonicalJSONField: what is kept is what was hashed, on both databases."""

from typing import Any

import pytest
import rfc8785
from django.db import connection, transaction

from core.json.canonical import CanonicalError
from registry.models import Package, Release

pytestmark = pytest.mark.django_db

VALUES: list[Any] = [
    {},
    {"nul": "\x00", "n\x00me": ["\x00"]},
    {"b": 1, "a": {"d": [1, 2.5, None, True], "c": "é"}},
    {"\U0001f600": 1, "\ue000": 2},
    {"numbers": [0, -1, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 9007199254740991]},
    {"text": '"\\/\b\f\n\r\t\u2028\x7f\U0010ffff'},
    {"deep": [[[[[[[[[[]]]]]]]]]]},
]


def release(manifest: Any) -> Release:
    package, _ = Package.objects.get_or_create(name="kept")
    return Release.objects.create(
        package=package, version="1.0.0", digest="d", manifest=manifest, runner="r", entry="e"
    )


@pytest.mark.parametrize("value", VALUES, ids=lambda v: repr(v)[:30])
def test_a_value_comes_back_as_it_was_and_is_kept_canonical(value: Any) -> None:
    row = release(value)
    assert Release.objects.get(pk=row.pk).manifest == value
    with connection.cursor() as cursor:
        cursor.execute("SELECT manifest FROM registry_release")
        assert cursor.fetchone()[0].encode() == rfc8785.dumps(value)


def test_what_is_not_json_is_refused_and_not_kept() -> None:
    for bad in ({"x": float("nan")}, {"x": "\ud800"}, {"x": object()}, {"x": 2**53 + 1}):
        with pytest.raises(CanonicalError), transaction.atomic():
            release(bad)
    assert not Release.objects.exists()
