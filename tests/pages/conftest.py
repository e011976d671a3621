"""Who looks at the pages: a signed-in admin, and people with exactly some permissions."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from audit.models import Event
from security.models import User

Eyes = Callable[..., Client]


@pytest.fixture(autouse=True)
def quick_passwords(settings: Any) -> None:
    """The real hash takes half a second for each person that a test makes."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def eyes(admin: User) -> Client:
    """The admin's browser."""
    client = Client()
    client.force_login(admin)
    return client


@pytest.fixture
def eyes_with(db: None) -> Eyes:
    """A browser of a person who holds just these permissions, named `app.codename`."""

    def make(*names: str) -> Client:
        person = User.objects.create_user(f"person-{User.objects.count()}")
        for name in names:
            app, _, codename = name.partition(".")
            person.user_permissions.add(
                Permission.objects.get(content_type__app_label=app, codename=codename)
            )
        client = Client()
        client.force_login(person)
        return client

    return make


@pytest.fixture
def nothing_recorded(db: None) -> Callable[[], None]:
    """Call it at the end: no event was written since the test got it."""
    before = Event.objects.count()

    def check() -> None:
        assert Event.objects.count() == before

    return check
