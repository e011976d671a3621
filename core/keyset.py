"""Pages of lists by a unique key; those of the API: `after` a key, and `next` where there is more."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet

from core.errors import InvalidRequest

PAGE = 100
Row = TypeVar("Row", bound=Model)


def page_after(
    rows: QuerySet[Row],
    params: Mapping[str, Any],
    *,
    key: str = "pk",
    descending: bool = True,
    count: int = PAGE,
) -> tuple[list[Row], str | None]:
    """At most `count` rows by a unique key, behind `params["after"]` if given; and the `next` to ask for.

    Costs one query however deep the page lies. Raises InvalidRequest for what is no key.
    """
    if after := params.get("after", ""):
        rows = rows.filter(**{f"{key}__{'lt' if descending else 'gt'}": key_read(rows, key, after)})
    found = list(rows.order_by(f"-{key}" if descending else key)[: count + 1])
    return found[:count], str(getattr(found[count - 1], key)) if len(found) > count else None


def key_read(rows: QuerySet[Any], key: str, given: str) -> Any:
    """A key as the rows' model has it. Raises InvalidRequest for what is none."""
    field = rows.model._meta.pk if key == "pk" else rows.model._meta.get_field(key)
    try:
        return field.to_python(key_check(given))
    except ValidationError as error:
        raise _wrong() from error


def key_check(after: str) -> str:
    """The key after which a page begins, "" for the first. Raises InvalidRequest for a NUL."""
    if "\0" in after:
        raise _wrong()
    return after


def _wrong() -> InvalidRequest:
    message = "after must be the `next` of the page before."
    return InvalidRequest(message, errors=[{"pointer": "/after", "message": message}])
