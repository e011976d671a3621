"""Statements that are written once: they mean the same wherever they are put."""

import pytest
from django.contrib.auth.models import Group
from django.db.models import F, Q

from core.named import SAID, Fulfils, Named, condition, statement
from security.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def people() -> None:
    User.objects.bulk_create(User(username=f"kim-{number}", first_name="100%") for number in range(4))
    Group.objects.create(name="kim-1")


def names(rows: object) -> list[str]:
    """Of the people, in order."""
    return sorted(User.objects.filter(pk__in=rows).values_list("username", flat=True))  # type: ignore[misc]


def test_a_name_is_looked_for_in_a_statement_of_the_same_table() -> None:
    """A column of the same table, under the same name, is not taken for the statement's own."""
    written = statement(User.objects.filter(username="kim-2").values(**{SAID: F("username")}))
    assert names(User.objects.filter(Named("username", written))) == ["kim-2"]
    assert names(User.objects.filter(~Q(Named("username", written)))) == ["kim-0", "kim-1", "kim-3"]
    nested = User.objects.filter(username="kim-2", pk__in=User.objects.filter(Named("username", written)))
    assert names(nested) == ["kim-2"]


def test_a_column_of_another_table_is_joined() -> None:
    User.objects.get(username="kim-3").groups.add(Group.objects.get(name="kim-1"))
    written = statement(Group.objects.values(**{SAID: F("name")}))
    assert names(User.objects.filter(Named("groups__name", written))) == ["kim-3"]


def test_a_condition_follows_its_table_into_another_statement() -> None:
    written = condition(User.objects.filter(~Q(username="kim-0"), first_name="100%"))
    told = Fulfils(User, written)
    assert names(User.objects.filter(told)) == ["kim-1", "kim-2", "kim-3"]
    within = User.objects.filter(told).filter(username__lt="kim-3").values("pk")
    assert names(User.objects.filter(username="kim-0") | User.objects.filter(pk__in=within)) == [
        "kim-0",
        "kim-1",
        "kim-2",
    ]
