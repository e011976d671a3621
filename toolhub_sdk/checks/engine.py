"""Compiles JSON Schemas: offline, formats asserted, patterns in linear time. The hub uses just this."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import jsonschema_rs

Validator: TypeAlias = jsonschema_rs.Draft202012Validator | jsonschema_rs.Draft7Validator
Refusal = (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError)
"""What `compiled` raises for a schema that is none."""


def compiled(schema: Mapping[str, Any]) -> Validator:
    """The validator of a schema by the `$schema` it names, else 2020-12. Nothing is ever fetched."""
    draft7 = "draft-07" in str(schema.get("$schema", ""))
    kind = jsonschema_rs.Draft7Validator if draft7 else jsonschema_rs.Draft202012Validator
    return kind(
        dict(schema), validate_formats=True, pattern_options=jsonschema_rs.RegexOptions(), offline=True
    )
