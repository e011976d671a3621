"""Two processes at a collection: what one of them checked still holds when it is written."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from core.errors import Denied, NotFound, ToolHubError
from registry import services
from registry.collections.models import Collection
from registry.collections.services import collection_create, collection_delete, members_change
from registry.models import Assignment, CollectionMember, Tool
from registry.services import assignment_create
from security.models import Persona, User
from security.sharing.services import right_give

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """`(there, on)`: an assignment stops between its look at the tools and its row, until `on`."""
    there, on = threading.Event(), threading.Event()
    look = services._tools_check

    def slow(*of: object) -> None:
        look(*of)  # type: ignore[arg-type]
        there.set()
        assert on.wait(20)

    monkeypatch.setattr(services, "_tools_check", slow)
    return there, on


def beside(act: Callable[[], object], told: list[ToolHubError]) -> threading.Thread:
    """Does it in a thread with a connection of its own."""

    def work() -> None:
        try:
            act()
        except ToolHubError as error:
            told.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_tool_does_not_come_in_while_a_collection_is_being_assigned(
    admin: User, persona: Persona, published: None, held: tuple[threading.Event, threading.Event]
) -> None:
    """Who fills it may not assign to the persona, which has it by the time that the tool would be in."""
    there, on = held
    made = collection_create(by=admin, name="shared")
    kim, echo = User.objects.create_user("kim"), Tool.objects.get(name="echo")
    for thing in (made, echo):
        right_give(by=admin, thing=thing, to=kim, level="manage")
    kim, told = User.objects.get(pk=kim.pk), list[ToolHubError]()
    assigning = beside(lambda: assignment_create(by=admin, persona=persona, collection=made), told)
    assert there.wait(20)
    filling = beside(lambda: members_change(by=kim, collection=made, add=[echo]), told)
    filling.join(0.5)
    assert filling.is_alive(), "it did not wait"
    on.set()
    assigning.join(20)
    filling.join(20)
    assert [type(error) for error in told] == [Denied]
    assert (Assignment.objects.count(), CollectionMember.objects.count()) == (1, 0)


def test_a_collection_that_is_deleted_while_it_is_being_assigned_takes_the_assignment_along(
    admin: User, persona: Persona, held: tuple[threading.Event, threading.Event]
) -> None:
    there, on = held
    made, told = collection_create(by=admin, name="shared"), list[ToolHubError]()
    assigning = beside(lambda: assignment_create(by=admin, persona=persona, collection=made), told)
    assert there.wait(20)
    deleting = beside(lambda: collection_delete(by=admin, collection=made), told)
    deleting.join(0.5)
    on.set()
    assigning.join(20)
    deleting.join(20)
    assert told == []
    assert not Assignment.objects.exists()
    assert not Collection.objects.exists()
    with pytest.raises(NotFound):
        assignment_create(by=admin, persona=persona, collection=made)
