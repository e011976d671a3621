"""Model fields of the house."""

from typing import TYPE_CHECKING, Any

import orjson
from django.db import models

from core.json.canonical import canonical

if TYPE_CHECKING:
    _TextField = models.TextField[Any, Any]
else:
    _TextField = models.TextField


class CanonicalJSONField(_TextField):
    """A JSON value kept as its RFC 8785 text.

    Text and not jsonb: the bytes that were hashed are the bytes that are kept, on both databases,
    and jsonb refuses the character U+0000.
    """

    # What the type checker's Django plugin reads: any JSON value goes in and comes out.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        return None if value is None else orjson.loads(value)

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else canonical(value).decode()

    def to_python(self, value: Any) -> Any:
        return value

    def value_to_string(self, obj: models.Model) -> str:
        return canonical(self.value_from_object(obj)).decode()
