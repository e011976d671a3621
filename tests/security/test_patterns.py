"""Patterns of admins: checked, recorded, in force at the next call of this process."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from core.errors import Conflict, Denied, InvalidRequest
from security.models import OutputPattern, User
from security.patterns import COUNT_MAX, pattern_add, pattern_remove, patterns_forget, patterns_now

pytestmark = pytest.mark.django_db
HERE = "/settings/filters/"


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    patterns_forget()
    yield
    patterns_forget()


@pytest.mark.parametrize(
    "pattern", ["", "(", "(?=a)", r"(a)\1", r"(\w{80}){80}", "a*", "x" * 201, "a|", "\ud800"]
)
def test_what_is_no_pattern_in_linear_time_is_refused_at_the_field(admin: User, pattern: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        pattern_add(by=admin, name="keys", pattern=pattern)
    assert refused.value.errors[0]["pointer"] == "/pattern"
    assert not OutputPattern.objects.exists()


def test_a_name_stands_for_one_pattern(admin: User) -> None:
    pattern_add(by=admin, name="keys", pattern="bill_[0-9]+")
    with pytest.raises(Conflict):
        pattern_add(by=admin, name="keys", pattern="other")


def test_there_are_so_many_at_most(admin: User) -> None:
    OutputPattern.objects.bulk_create(
        OutputPattern(name=str(n), pattern="abc", created_by=admin) for n in range(COUNT_MAX)
    )
    with pytest.raises(InvalidRequest):
        pattern_add(by=admin, name="one more", pattern="abc")


def test_only_who_may_adds_and_removes(admin: User, viewer: User) -> None:
    with pytest.raises(Denied):
        pattern_add(by=viewer, name="keys", pattern="abc")
    row = pattern_add(by=admin, name="keys", pattern="abc")
    with pytest.raises(Denied):
        pattern_remove(by=viewer, row=row)


def test_the_record_has_both_changes(admin: User, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        row = pattern_add(by=admin, name="keys", pattern="abc")
    assert len(patterns_now()) == 1
    with django_capture_on_commit_callbacks(execute=True):
        pattern_remove(by=admin, row=row)
    assert len(patterns_now()) == 0
    kinds = Event.objects.filter(subject_id="output_patterns").order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["output_pattern.added", "output_pattern.removed"]


def test_reading_them_costs_one_query_in_five_seconds(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        patterns_now()
        patterns_now()


def test_on_the_page(admin: User) -> None:
    eyes = Client()
    eyes.force_login(admin)
    refused = eyes.post(HERE, {"name": "keys", "pattern": "(?=a)"})
    assert refused.status_code == 422
    assert list(refused.context["form"].errors) == ["pattern"]
    assert eyes.post(HERE, {"name": "keys", "pattern": "bill_[0-9a-f]{8}"})["Location"] == HERE
    row = OutputPattern.objects.get()
    assert "bill_[0-9a-f]{8}" in eyes.get(HERE).content.decode()
    assert "Take keys away?" in eyes.get(f"{HERE}{row.pk}/remove/").content.decode()
    eyes.post(f"{HERE}{row.pk}/remove/")
    assert not OutputPattern.objects.exists()
