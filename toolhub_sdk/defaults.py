"""The defaults of a schema, put where a caller left something out."""

import copy
from collections.abc import Mapping
from typing import Any


def defaults_filled(schema: object, given: Any) -> Any:
    """The value with the `default` of each property that is not there, also in objects within that are.

    What stands behind `$ref` or in a combination is not looked at; a default is taken as it is.
    """
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not isinstance(given, Mapping):
        return given
    kept = {name: defaults_filled(properties.get(name), value) for name, value in given.items()}
    left_out = {
        name: copy.deepcopy(each["default"])
        for name, each in properties.items()
        if name not in given and isinstance(each, Mapping) and "default" in each
    }
    return kept | left_out
