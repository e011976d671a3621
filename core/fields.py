"""Model fields of the house."""

from typing import TYPE_CHECKING, Any

import orjson
from django.core.exceptions import FieldError, ValidationError
from django.db import models

from core.identity import NotPlain, address_normal, name_normal
from core.json.canonical import canonical

if TYPE_CHECKING:
    _TextField = models.TextField[Any, Any]
    _CharField = models.CharField[str, str]
else:
    _TextField, _CharField = models.TextField, models.CharField


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


class _NormalField(_CharField):
    """A text that is stored in its normal form, and looked up by it to the letter."""

    # Lookups by which a database folds letters.
    _FOLDING = frozenset({"iexact", "istartswith", "iendswith", "iregex"})

    def normal(self, text: str) -> str:
        """Return the normal form. Raises NotPlain."""
        raise NotImplementedError

    def get_lookup(self, lookup_name: str) -> Any:
        if lookup_name in self._FOLDING:
            raise FieldError(
                f"{self.name}: compare normal forms by exact; {lookup_name} folds in the database."
            )
        return super().get_lookup(lookup_name)

    def get_prep_value(self, value: Any) -> Any:
        if not isinstance(value, str):
            return super().get_prep_value(value)
        # A text without a normal form is not found. Drivers fail on NUL and on half surrogates.
        sendable = value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
        return sendable.lower() if sendable.isascii() else sendable

    def clean(self, value: Any, model_instance: models.Model | None) -> Any:
        return self._normalised(super().clean(value, model_instance))

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        value = getattr(model_instance, self.attname)
        # A row of before may hold another text: it stays until somebody changes it.
        normal = self._normalised(value) if add else self.get_prep_value(value)
        setattr(model_instance, self.attname, normal)
        return normal

    def _normalised(self, value: Any) -> Any:
        if not isinstance(value, str) or not value:
            return value
        try:
            return self.normal(value)
        except NotPlain as error:
            raise ValidationError(f"{self.name}: {error}.", code="not_plain") from error


class NameField(_NormalField):
    """A person's name to sign in with (core/identity.py)."""

    def normal(self, text: str) -> str:
        return name_normal(text)


class AddressField(_NormalField):
    """An e-mail address (core/identity.py)."""

    def normal(self, text: str) -> str:
        return address_normal(text)
