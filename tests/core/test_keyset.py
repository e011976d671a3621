"""Pages of the API's lists: each row once, in order, and a clear refusal of what is no key."""

import uuid
from typing import Any

import pytest

from core.errors import InvalidRequest
from core.keyset import cursor_kind, cursor_make, cursor_read, page_after
from execution.models import Run
from security.models import Persona

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("key", "descending"), [("pk", True), ("pk", False), ("name", False)])
def test_each_row_comes_once_and_in_order(key: str, descending: bool) -> None:
    Persona.objects.bulk_create(Persona(name=f"p{number:02}") for number in range(7))
    params: dict[str, Any] = {}
    found, sizes = [], []
    while True:
        rows, more = page_after(Persona.objects.all(), params, key=key, descending=descending, count=3)
        found += [row.name for row in rows]
        sizes.append(len(rows))
        if more is None:
            break
        params = {"after": more}
    assert sizes == [3, 3, 1]
    assert found == sorted(found, reverse=descending)
    assert len(set(found)) == 7


@pytest.mark.parametrize("after", ["x", "1 OR 1=1", "\0", "9" * 5000])
def test_what_is_no_number_is_refused(after: str) -> None:
    with pytest.raises(InvalidRequest, match="after must be the `next` of the page before") as refused:
        page_after(Persona.objects.all(), {"after": after})
    assert refused.value.errors[0]["pointer"] == "/after"


def test_a_number_larger_than_any_key_is_only_that() -> None:
    Persona.objects.create(name="one")
    after = {"after": cursor_make(cursor_kind(Persona.objects.all(), "pk"), "9" * 30)}
    assert [len(page_after(Persona.objects.all(), after)[0])] == [1]
    assert page_after(Persona.objects.all(), after, descending=False) == ([], None)


def test_a_cursor_is_of_its_list_alone() -> None:
    """It is opaque, and what was changed in it, or comes from elsewhere, is refused."""
    kind = cursor_kind(Persona.objects.all(), "name")
    cursor = cursor_make(kind, "one")
    assert "one" not in cursor
    assert cursor_read(kind, cursor) == "one"
    assert cursor_read(kind, cursor_make(kind, "é\u4e00")) == "é\u4e00"
    other = cursor_make(cursor_kind(Persona.objects.all(), "pk"), "one")
    for wrong in (other, cursor[:-1], f"{cursor}A", cursor.swapcase(), "", "é", "=", 7, None, "A" * 9_999):
        with pytest.raises(InvalidRequest, match="after must be"):
            cursor_read(kind, wrong)


@pytest.mark.parametrize("after", ["x", "1", "\0", f"{uuid.uuid4()}0"])
def test_what_is_no_uuid_is_refused(after: str) -> None:
    with pytest.raises(InvalidRequest, match="after must be"):
        page_after(Run.objects.all(), {"after": after})
