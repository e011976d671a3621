"""New rows of models, made in a third of the time that keyword arguments take: each call makes three."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.db import models

Row = TypeVar("Row", bound=models.Model)
_Default = tuple[str, Any, Callable[[], Any] | None]


def row_make(model: type[Row], values: Mapping[str, Any]) -> Row:
    """As `model(**values)`, by the names of columns (`persona_id`); what is left out gets its default.

    A name that the model does not have is passed over.
    """
    return model(
        *[
            values[name] if name in values else value if make is None else make()
            for name, value, make in _defaults(model)
        ]
    )


@functools.cache
def _defaults(model: type[models.Model]) -> tuple[_Default, ...]:
    """Of each field in order: its name, its default, and what makes that anew where it is made."""
    return tuple(
        (field.attname, None, field.get_default)
        if callable(field.default)
        else (field.attname, field.get_default(), None)
        for field in model._meta.concrete_fields
    )
