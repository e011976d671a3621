"""Makes the JSON of a call into what the tool's annotations promise it: enums, dataclasses, datetimes."""

import base64
import dataclasses
import datetime as dt
import enum
import types
import typing
import uuid
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, NotRequired, Required, TypeAlias, Union

from toolhub_sdk.models import is_model_class, model_reader

Converter: TypeAlias = Callable[[Any], Any]


def converter_of(annotation: Any) -> Converter | None:
    """What to do with a JSON value that satisfies the annotation's schema; None when it is right as it is.

    Raises TypeError for a union whose members cannot be told apart in JSON.
    """
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (Annotated, Required, NotRequired):
        return converter_of(arguments[0])
    if annotation in _FROM_JSON:
        return _FROM_JSON[annotation]
    if origin in (Union, types.UnionType):
        return _union(arguments)
    if origin in (dict, Mapping):
        return _members(converter_of(arguments[1]))
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _fixed([converter_of(each) for each in arguments])
    if origin in (list, tuple, set, frozenset, Sequence):
        return _items(origin, converter_of(arguments[0]))
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return annotation
    if typing.is_typeddict(annotation):
        return _object(annotation, dict)
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        return _object(annotation, annotation)
    return model_reader(annotation) if is_model_class(annotation) else None


def _whole(value: Any) -> Any:
    """JSON Schema counts 5.0 as an integer (2020-12 §6.1.1); Python does not."""
    return int(value) if isinstance(value, float) else value


def _octets(value: Mapping[str, str]) -> bytes:
    return base64.b64decode(value["base64"], validate=True)


_FROM_JSON: Mapping[Any, Converter] = {
    int: _whole,
    dt.datetime: dt.datetime.fromisoformat,
    dt.date: dt.date.fromisoformat,
    uuid.UUID: uuid.UUID,
    Decimal: Decimal,
    bytes: _octets,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
}


def _union(arguments: Sequence[Any]) -> Converter | None:
    others = [each for each in arguments if each is not types.NoneType]
    if len(others) > 1:
        others = [each for each in others if each is not int]
        if any(converter_of(each) for each in others):
            raise TypeError(f"In JSON the members of {arguments} cannot be told apart.")
        return None
    convert = converter_of(others[0]) if others else None
    return convert and (lambda value: None if value is None else convert(value))


def _members(convert: Converter | None) -> Converter | None:
    return convert and (lambda value: {name: convert(each) for name, each in value.items()})


def _fixed(converters: Sequence[Converter | None]) -> Converter:
    return lambda value: tuple(
        convert(each) if convert else each for convert, each in zip(converters, value, strict=True)
    )


def _items(origin: Any, convert: Converter | None) -> Converter | None:
    build = list if origin is Sequence else origin
    if convert is None:
        return None if build is list else build
    return lambda value: build(map(convert, value))


def _object(cls: Any, build: Callable[..., Any]) -> Converter | None:
    hints = typing.get_type_hints(cls, include_extras=True)
    converters = {name: convert for name, hint in hints.items() if (convert := converter_of(hint))}
    if build is dict and not converters:
        return None
    return lambda value: build(**converted(value, converters))


def converted(values: Mapping[str, Any], converters: Mapping[str, Converter]) -> dict[str, Any]:
    """The members, each through its converter where it has one."""
    return {name: converters[name](value) if name in converters else value for name, value in values.items()}
