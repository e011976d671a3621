"""JSON Schema 2020-12 from a function's annotations."""

import dataclasses
import datetime as dt
import enum
import inspect
import types
import typing
import uuid
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired, Required, TypeAlias, Union

from toolhub_sdk.context import ToolContext
from toolhub_sdk.errors import ToolError
from toolhub_sdk.models import is_model_class, model_schema
from toolhub_sdk.normalise import normalise

Schema: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_SIMPLE: Mapping[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    None: {"type": "null"},
    types.NoneType: {"type": "null"},
    Any: {},
    object: {},
    dict: {"type": "object"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array", "uniqueItems": True},
    frozenset: {"type": "array", "uniqueItems": True},
    dt.datetime: {"type": "string", "format": "date-time"},
    dt.date: {"type": "string", "format": "date"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    Decimal: {"type": "string"},
    bytes: {
        "type": "object",
        "properties": {
            "base64": {"type": "string", "contentEncoding": "base64"},
            "mediaType": {"type": "string", "default": "application/octet-stream"},
        },
        "required": ["base64"],
        "additionalProperties": False,
    },
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Field:
    """What an annotation cannot say: `Annotated[int, Field(description="…", minimum=0)]`.

    `min_length` and `max_length` count the characters of a string or the items of a list; `pattern` is a
    regular expression as JSON Schema has it (ECMA-262); `format` one of its formats.
    """

    description: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    examples: Sequence[Any] = ()

    def __post_init__(self) -> None:
        for least, most in ((self.minimum, self.maximum), (self.min_length, self.max_length)):
            if least is not None and most is not None and least > most:
                raise ValueError(f"A Field's least, {least}, is above its most, {most}.")

    def keywords(self, kind: object) -> Schema:
        """The JSON Schema keywords for a schema of this `type`."""
        size = "Items" if kind == "array" else "Length"
        keywords = {
            "description": self.description,
            "minimum": self.minimum,
            "maximum": self.maximum,
            f"min{size}": self.min_length,
            f"max{size}": self.max_length,
            "pattern": self.pattern,
            "format": self.format,
            "examples": normalise(self.examples) if self.examples else None,
        }
        return {name: value for name, value in keywords.items() if value is not None}


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a tool: its name, resolved annotation and default (`inspect.Parameter.empty`)."""

    name: str
    annotation: Any
    default: Any


def parameters_of(function: Callable[..., object]) -> tuple[list[Parameter], str | None]:
    """The parameters that callers fill, and the name of the one that gets the ToolContext, if any.

    Raises TypeError for a parameter that has no annotation or cannot be given by name, and for a function
    whose call does not give its result.
    """
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{function.__name__} is async. Write a plain function; it may call asyncio.run().")
    if inspect.isgeneratorfunction(function):
        raise TypeError(f"{function.__name__} yields. Return the result; ctx.emit() tells parts of it.")
    hints = typing.get_type_hints(function, include_extras=True)
    parameters, context = [], None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{function.__name__}: {parameter.name} cannot be given by name.")
        if parameter.name not in hints:
            raise TypeError(f"{function.__name__}: {parameter.name} has no annotation.")
        if hints[parameter.name] is ToolContext:
            if context is not None:
                raise TypeError(f"{function.__name__}: {context} and {parameter.name} are both the context.")
            context = parameter.name
        else:
            parameters.append(Parameter(parameter.name, hints[parameter.name], parameter.default))
    return parameters, context


def input_schema(function: Callable[..., object]) -> Schema:
    """The schema of a tool's arguments: an object that takes the parameters and nothing else.

    A parameter of type ToolContext is left out. Raises TypeError for annotations without a schema.
    """
    parameters, _ = parameters_of(function)
    properties = {}
    for parameter in parameters:
        try:
            schema = schema_of(parameter.annotation)
            if parameter.default is not inspect.Parameter.empty:
                schema["default"] = normalise(parameter.default)
        except TypeError as error:
            raise TypeError(f"{function.__name__}: {parameter.name}: {error}") from error
        except ToolError as error:
            raise TypeError(f"{function.__name__}: the default of {parameter.name} is not JSON.") from error
        properties[parameter.name] = schema
    required = [each.name for each in parameters if each.default is inspect.Parameter.empty]
    return {"$schema": DIALECT, **_object(properties, required)}


def output_schema(function: Callable[..., object]) -> Schema | None:
    """The schema of what the function returns, after `normalise`; None without a return annotation."""
    hints = typing.get_type_hints(function, include_extras=True)
    if "return" not in hints:
        return None
    return {"$schema": DIALECT, **schema_of(hints["return"], is_output=True)}


def schema_of(annotation: Any, *, is_output: bool = False) -> Schema:
    """The schema of one type. In output every field of a dataclass is there, in input those with a default
    need not be. Raises TypeError for a type without a schema, and for one that contains itself.
    """
    return _schema(annotation, is_output, ())


def _schema(annotation: Any, is_output: bool, inside: tuple[Any, ...]) -> Schema:
    if annotation in inside:
        raise TypeError(f"{annotation.__name__} contains itself, which has no schema here.")
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:  # first of all: a Field need not be hashable
        return _annotated(arguments, is_output, inside)
    if annotation in _SIMPLE:
        return {**_SIMPLE[annotation]}
    if origin in (Required, NotRequired):
        return _schema(arguments[0], is_output, inside)
    if origin is Literal:
        return _choice(arguments)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(each, is_output, inside) for each in arguments]}
    if origin is not None:
        return _container(origin, arguments, is_output, inside)
    return _class(annotation, is_output, (*inside, annotation))


def _annotated(arguments: tuple[Any, ...], is_output: bool, inside: tuple[Any, ...]) -> Schema:
    schema = _schema(arguments[0], is_output, inside)
    for extra in arguments[1:]:
        if isinstance(extra, Field):
            schema |= extra.keywords(schema.get("type"))
    return schema


def _choice(values: Sequence[Any]) -> Schema:
    plain = normalise(list(values))
    kinds = {type(value) for value in typing.cast("list[Any]", plain)}
    kind = _SIMPLE[kinds.pop()] if len(kinds) == 1 else {}
    return {**kind, "enum": plain}


def _container(origin: Any, arguments: tuple[Any, ...], is_output: bool, inside: tuple[Any, ...]) -> Schema:
    if origin in (dict, Mapping):
        if arguments[0] is not str:
            raise TypeError("An object's names are strings: dict[str, …].")
        values = _schema(arguments[1], is_output, inside)
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    if origin is tuple and arguments[-1] is not Ellipsis:
        items = [_schema(each, is_output, inside) for each in arguments]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    if origin in (list, tuple, set, frozenset, Sequence):
        return {**_SIMPLE.get(origin, {"type": "array"}), "items": _schema(arguments[0], is_output, inside)}
    raise TypeError(f"{origin!r} has no schema.")


def _class(cls: Any, is_output: bool, inside: tuple[Any, ...]) -> Schema:
    if isinstance(cls, type) and issubclass(cls, enum.Enum):
        return _choice([member.value for member in cls])
    if typing.is_typeddict(cls) or (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        hints = typing.get_type_hints(cls, include_extras=True)
        if typing.is_typeddict(cls):
            properties = {name: _schema(hint, is_output, inside) for name, hint in hints.items()}
            return _object(properties, [name for name in hints if name in cls.__required_keys__])
        return _dataclass(cls, hints, is_output, inside)
    if is_model_class(cls):
        return model_schema(cls, is_output=is_output)
    raise TypeError(f"{cls!r} has no schema.")


def _dataclass(cls: Any, hints: Mapping[str, Any], is_output: bool, inside: tuple[Any, ...]) -> Schema:
    properties, required = {}, []
    for field in dataclasses.fields(cls):
        schema = _schema(hints[field.name], is_output, inside)
        has_default = field.default is not dataclasses.MISSING
        if has_default and not is_output:
            schema["default"] = normalise(field.default)
        if is_output or not (has_default or field.default_factory is not dataclasses.MISSING):
            required.append(field.name)
        properties[field.name] = schema
    return _object(properties, required)


def _object(properties: Mapping[str, Schema], required: Sequence[str]) -> Schema:
    schema: Schema = {"type": "object", "properties": dict(properties)}
    if required:
        schema["required"] = list(required)
    return {**schema, "additionalProperties": False}
