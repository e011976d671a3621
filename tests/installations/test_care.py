"""The steward rings for what stays queued, and does not fill the broker while nobody could hear."""

import pytest

from registry.installations import bells, care
from registry.installations.services import installation_start
from registry.installations.source_form import Source
from security.models import User
from tests.installations import packages

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_stays_queued_is_rung_for_again_only_after_a_while(
    admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[str] = []
    monkeypatch.setattr(bells, "bell_send", lambda task, queue: bool(rung.append(queue)))
    monkeypatch.setattr(care, "REMINDER", bells.Reminder())
    care.installations_care()
    assert rung == []
    installation_start(by=admin, source=Source("upload", "greetings.zip"), content=packages.zipped())
    assert rung == ["install"]
    for _ in range(3):
        care.installations_care()
    assert rung == ["install", "install"]
    care.REMINDER.rung -= bells.AGAIN_S
    care.installations_care()
    assert rung == ["install"] * 3
