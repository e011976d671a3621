"""The page of resources: added, switched and taken away by people who may."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from execution.features.preconditions.models import Resource
from execution.features.preconditions.resources import resource_add
from security.models import User

pytestmark = pytest.mark.django_db
HERE = "/settings/resources/"


def test_a_resource_is_added_switched_and_taken_away(eyes: Client) -> None:
    assert "None yet." in eyes.get(HERE).content.decode()
    assert eyes.post(HERE, {"name": " browser ", "url": ""}).status_code == 302
    row = Resource.objects.get()
    assert (row.name, row.is_up) == ("browser", True)
    for is_up in (False, True):
        assert "browser" in eyes.get(f"{HERE}{row.pk}/switch/").content.decode()
        assert eyes.post(f"{HERE}{row.pk}/switch/").status_code == 302
        row.refresh_from_db()
        assert row.is_up is is_up
    assert eyes.get(f"{HERE}{row.pk}/remove/").status_code == 200
    assert eyes.post(f"{HERE}{row.pk}/remove/").status_code == 302
    assert Resource.objects.count() == 0
    kinds = Event.objects.filter(kind__startswith="resource.").order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == [
        "resource.added",
        "resource.switched",
        "resource.switched",
        "resource.removed",
    ]


@pytest.mark.parametrize(
    ("name", "url"),
    [("", ""), ("x" * 121, ""), ("taken", ""), ("a", "http://127.0.0.1/"), ("a", "ftp://a.org")],
)
def test_what_does_not_fit_is_told_at_its_field(eyes: Client, admin: User, name: str, url: str) -> None:
    resource_add(by=admin, name="taken")
    answer = eyes.post(HERE, {"name": name, "url": url})
    assert answer.status_code == 422
    assert "invalid" in answer.content.decode()
    assert Resource.objects.count() == 1


def test_who_may_only_look_changes_nothing(eyes_with: Callable[..., Client], admin: User) -> None:
    row = resource_add(by=admin, name="r")
    before = Event.objects.count()
    viewer: Any = eyes_with("preconditions.view_resource")
    page = viewer.get(HERE).content.decode()
    assert "Add a resource" not in page
    assert "Take away" not in page
    assert viewer.post(HERE, {"name": "a"}).status_code in {403, 404, 422}
    for act in ("switch", "remove"):
        assert viewer.post(f"{HERE}{row.pk}/{act}/").status_code == 404
    assert Resource.objects.get().is_up
    assert Event.objects.count() == before
