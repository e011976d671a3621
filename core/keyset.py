"""Pages of lists by a unique key; those of the API: `after` a cursor, and `next` where there is more."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.utils.crypto import constant_time_compare, salted_hmac

from core.errors import InvalidRequest

PAGE = 100
_MARK_BYTES = 12
_LENGTH_MOST = 1_000
Row = TypeVar("Row", bound=Model)


def page_after(
    rows: QuerySet[Row],
    params: Mapping[str, Any],
    *,
    key: str = "pk",
    descending: bool = True,
    count: int = PAGE,
) -> tuple[list[Row], str | None]:
    """Return up to `count` rows by a unique key, behind the cursor `params["after"]` if given, and the next.

    Costs one query however deep the page lies. Raises InvalidRequest for what is no cursor of this list.
    """
    kind = cursor_kind(rows, key)
    if after := params.get("after", ""):
        value = key_read(rows, key, cursor_read(kind, after))
        rows = rows.filter(**{f"{key}__{'lt' if descending else 'gt'}": value})
    found = list(rows.order_by(f"-{key}" if descending else key)[: count + 1])
    more = len(found) > count
    return found[:count], cursor_make(kind, str(getattr(found[count - 1], key))) if more else None


def cursor_kind(rows: QuerySet[Any], key: str) -> str:
    """Return the name of the lists whose cursors are like those of these rows by this key."""
    return f"{rows.model._meta.label}.{key}"


def cursor_make(kind: str, value: str) -> str:
    """Return an opaque cursor for a key, marked as the hub's own for lists of this kind."""
    text = value.encode()
    return base64.urlsafe_b64encode(_mark(kind, text) + text).decode().rstrip("=")


def cursor_read(kind: str, cursor: Any) -> str:
    """Return the key of a cursor. Raises InvalidRequest for one that the hub did not make for such a list."""
    if not isinstance(cursor, str) or len(cursor) > _LENGTH_MOST or not cursor.isascii():
        raise _wrong()
    try:
        whole = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise _wrong() from error
    mark, text = whole[:_MARK_BYTES], whole[_MARK_BYTES:]
    if not constant_time_compare(mark, _mark(kind, text)):
        raise _wrong()
    return text.decode()


def _mark(kind: str, text: bytes) -> bytes:
    return salted_hmac(f"cursor {kind}", text, algorithm="sha256").digest()[:_MARK_BYTES]


def key_read(rows: QuerySet[Any], key: str, given: str) -> Any:
    """Return a key as the rows' model has it. Raises InvalidRequest for what is none."""
    field = rows.model._meta.pk if key == "pk" else rows.model._meta.get_field(key)
    if "\0" in given:
        raise _wrong()
    try:
        return field.to_python(given)
    except ValidationError as error:
        raise _wrong() from error


def _wrong() -> InvalidRequest:
    message = "after must be the `next` of the page before."
    return InvalidRequest(
        message,
        errors=[{"pointer": "/after", "message": message}],
        suggestions=["Leave the cursor out to begin with the first page."],
    )
