"""Memory over REST: scopes, sessions and loops, private to a persona, within limits, ended and expired."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from audit.models import Event
from execution.memory.models import Item, Session, Space
from execution.memory.services import memory_expire
from security.models import User
from security.services import persona_create, token_create
from tests.execution.memory.conftest import Ask

pytestmark = pytest.mark.django_db
SCOPES = ("working", "short-term", "long-term")


def put(ask: Ask, path: str, value: Any = 1) -> None:
    answer = ask("PUT", f"memory/{path}", {"value": value})
    assert (answer.status_code, answer.json()["value"]) == (200, value)


def there(ask: Ask, path: str) -> Any:
    """The value, or the status of an answer without one."""
    answer = ask("GET", f"memory/{path}")
    return answer.json()["value"] if answer.status_code == 200 else answer.status_code


@pytest.mark.parametrize("value", [None, False, 0, "", [], {"b": [1, 2.5, None], "a": "é\u0000"}])
def test_a_value_is_read_as_it_was_written(ask: Ask, value: Any) -> None:
    put(ask, "working/k", value)
    assert there(ask, "working/k") == value
    put(ask, "working/k", "another")
    assert there(ask, "working/k") == "another"
    assert Item.objects.count() == 1


def test_a_key_may_have_dots_colons_and_slashes(ask: Ask) -> None:
    put(ask, "short-term/web:cache/a.b c")
    assert there(ask, "short-term/web:cache/a.b c") == 1
    (key,) = ask("GET", "memory/short-term").json()["keys"]
    assert (key["key"], key["bytes"]) == ("web:cache/a.b c", 1)


def test_sessions_loops_and_scopes_are_apart(ask: Ask) -> None:
    put(ask, "working/k?session_id=s&loop_id=l", "l")
    put(ask, "working/k?session_id=s", "default loop")
    put(ask, "short-term/k?session_id=s&loop_id=l", "short")
    put(ask, "long-term/k?session_id=s&loop_id=l", "long")
    assert there(ask, "working/k?session_id=s&loop_id=l") == "l"
    assert there(ask, "working/k?session_id=s") == "default loop"
    assert there(ask, "working/k?session_id=s&loop_id=m") == 404
    assert there(ask, "short-term/k?session_id=s") == "short"
    assert there(ask, "short-term/k?session_id=t") == 404
    assert there(ask, "long-term/k") == "long"


def test_memory_is_the_personas_own(ask: Ask, admin: User) -> None:
    other = token_create(by=admin, persona=persona_create(by=admin, name="other"), name="t")[1]
    for scope in SCOPES:
        put(ask, f"{scope}/k")
        assert ask("GET", f"memory/{scope}/k", token=other).status_code == 404
        assert ask("GET", f"memory/{scope}", token=other).json() == {"keys": []}
        assert ask("DELETE", f"memory/{scope}/k", token=other).status_code == 204
        assert there(ask, f"{scope}/k") == 1
    assert ask("GET", "sessions", token=other).json()["sessions"] == []
    assert ask("GET", "sessions/default", token=other).status_code == 404


def test_deleting_twice_is_the_same(ask: Ask) -> None:
    put(ask, "working/k")
    for _ in range(2):
        assert ask("DELETE", "memory/working/k").status_code == 204
        assert there(ask, "working/k") == 404
    assert Space.objects.get().keys == Space.objects.get().bytes == 0


def test_the_end_of_a_loop_takes_its_working_memory_and_that_of_a_session_all_but_long_term(ask: Ask) -> None:
    for scope in SCOPES:
        put(ask, f"{scope}/k?session_id=s&loop_id=l")
    put(ask, "working/k?session_id=s")
    assert ask("DELETE", "sessions/s/loops/l").status_code == 204
    assert [there(ask, f"{scope}/k?session_id=s&loop_id=l") for scope in SCOPES] == [404, 1, 1]
    assert there(ask, "working/k?session_id=s") == 1
    assert ask("DELETE", "sessions/s").status_code == 204
    assert [there(ask, f"{scope}/k?session_id=s") for scope in SCOPES] == [404, 404, 1]
    assert there(ask, "long-term/k?session_id=new") == 1
    put(ask, "short-term/k?session_id=s", 2)
    assert there(ask, "short-term/k?session_id=s") == 2


def test_a_session_that_is_not_there_ends_without_a_trace(ask: Ask) -> None:
    assert ask("DELETE", "sessions/unknown").status_code == 204
    assert ask("DELETE", "sessions/unknown/loops/l").status_code == 204
    assert Session.objects.count() == Event.objects.filter(kind="session.ended").count() == 0


def test_a_session_in_which_nothing_is_written_is_over(ask: Ask) -> None:
    for scope in SCOPES:
        put(ask, f"{scope}/k")
    Space.objects.filter(session="default").update(expires_at=Now() - timedelta(seconds=1))
    Session.objects.update(last_at=Now() - timedelta(hours=24, seconds=1))
    assert [there(ask, f"{scope}/k") for scope in SCOPES] == [404, 404, 1]
    assert ask("GET", "sessions/default").json()["over"] is True
    assert memory_expire() == 2
    assert Item.objects.get().space.scope == "long-term"
    put(ask, "working/new")
    assert ask("GET", "sessions/default").json()["over"] is False
    assert there(ask, "working/k") == 404


def test_what_expired_and_was_not_removed_yet_does_not_come_back(ask: Ask) -> None:
    put(ask, "working/old")
    Space.objects.update(expires_at=Now() - timedelta(seconds=1))
    put(ask, "working/new")
    assert (there(ask, "working/old"), there(ask, "working/new")) == (404, 1)
    assert Space.objects.get().keys == 1


def test_a_write_keeps_the_whole_session_alive(ask: Ask) -> None:
    put(ask, "working/k")
    Space.objects.update(expires_at=Now() + timedelta(seconds=5))
    put(ask, "short-term/k")
    soon = Space.objects.filter(expires_at__lt=Now() + timedelta(hours=23))
    assert not soon.exists()


def test_a_session_long_over_goes_off_record(ask: Ask) -> None:
    put(ask, "working/k")
    Space.objects.all().delete()
    Session.objects.update(last_at=Now() - timedelta(days=91))
    assert memory_expire() == 1
    assert Session.objects.count() == 0


def test_a_session_tells_what_it_remembers(ask: Ask) -> None:
    put(ask, "working/k?session_id=s&loop_id=l", "abc")
    put(ask, "long-term/k", [1])
    put(ask, "working/k?session_id=other", 1)
    told = ask("GET", "sessions/s").json()
    assert (told["session_id"], told["over"]) == ("s", False)
    assert told["memory"] == [
        {"scope": "working", "loop_id": "l", "keys": 1, "bytes": 5},
        {"scope": "long-term", "loop_id": None, "keys": 1, "bytes": 3},
    ]
    assert [one["session_id"] for one in ask("GET", "sessions").json()["sessions"]] == ["other", "s"]


def test_the_ledger_hears_who_changed_which_key_and_no_value(ask: Ask) -> None:
    put(ask, "working/k", "a secret")
    ask("DELETE", "memory/working/k")
    ask("DELETE", "sessions/default")
    told = Event.objects.filter(kind__startswith="memory.") | Event.objects.filter(kind="session.ended")
    assert list(told.order_by("pk").values_list("kind", flat=True)) == [
        "memory.written",
        "memory.deleted",
        "session.ended",
    ]
    assert not any("a secret" in event.canonical for event in told)


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_values_keys_and_scopes_have_limits(ask: Ask, settings: Any) -> None:
    settings.MEMORY_KEYS_MAX, settings.MEMORY_BYTES_MAX = 2, 100_000
    put(ask, "working/a", "x" * 61_438)
    put(ask, "working/b", deep(31))
    bad = {"a": "x" * 61_439, "b": deep(33), "c": 1, "d" * 201: 1, "b\u0007": 1}
    for key, value in bad.items():
        answer = ask("PUT", f"memory/working/{key}", {"value": value})
        code = "MEMORY_FULL" if len(key) == 1 else "INVALID_REQUEST"
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, code), key[:9]
    answer = ask("PUT", "memory/working/b", {"value": "x" * 50_000})
    assert answer.json()["error"]["code"] == "MEMORY_FULL"
    assert there(ask, "working/b") == deep(31)
    assert (Space.objects.get().keys, Item.objects.count()) == (2, 2)


BAD = [
    ("PUT", "memory/elsewhere/k", {"value": 1}, 422),
    ("GET", "memory/elsewhere/k", None, 422),
    ("GET", "memory/elsewhere", None, 422),
    ("PUT", "memory/working/k", {}, 422),
    ("PUT", "memory/working/k", {"value": 1, "more": 1}, 422),
    ("PUT", "memory/working/k", [1], 422),
    ("PUT", f"memory/working/k?session_id={'s' * 129}", {"value": 1}, 422),
    ("GET", "memory/working/k?loop_id=", None, 422),
    ("GET", f"sessions/{'s' * 129}", None, 422),
    ("GET", "sessions/none", None, 404),
]


@pytest.mark.parametrize(("method", "path", "body", "status"), BAD)
def test_what_does_not_fit_is_refused(ask: Ask, method: str, path: str, body: Any, status: int) -> None:
    answer = ask(method, path, body)
    assert answer.status_code == status
    assert answer.json()["error"]["suggestions"]
    assert Item.objects.count() == Session.objects.count() == 0
