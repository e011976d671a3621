"""Models of pydantic 2 in annotations, where a package brings pydantic; the SDK itself does not need it."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeGuard, runtime_checkable


@runtime_checkable
class Model(Protocol):
    """What a model can do that is of use here."""

    def model_dump(self, *, by_alias: bool) -> dict[str, Any]:
        """Its fields, those of inner models too."""
        ...


def is_model_class(annotation: object) -> TypeGuard[type[Model]]:
    """Whether an annotation is a class of pydantic's models."""
    is_class = isinstance(annotation, type)
    return is_class and all(hasattr(annotation, name) for name in ("model_json_schema", "model_validate"))


def model_schema(cls: Any, *, is_output: bool) -> dict[str, Any]:
    """The JSON Schema of a model, its references put in place.

    Raises TypeError for a model that contains itself.
    """
    schema = cls.model_json_schema(mode="serialization" if is_output else "validation")
    made: dict[str, Any] = _inlined(schema, schema.get("$defs", {}), ())
    return made


def model_reader(cls: Any) -> Callable[[Any], Any]:
    """Makes a model of JSON; raises ValueError for what its validators refuse."""
    read: Callable[[Any], Any] = cls.model_validate
    return read


def _inlined(node: Any, definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inlined(part, definitions, inside) for part in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str):
        name = reference.rpartition("/")[2]
        if name in inside:
            raise TypeError(f"{name} contains itself, which has no schema here.")
        beside = {key: part for key, part in node.items() if key != "$ref"}
        return {**_inlined(definitions[name], definitions, (*inside, name)), **beside}
    return {key: _inlined(part, definitions, inside) for key, part in node.items() if key != "$defs"}
