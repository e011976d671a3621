"""The schemas that hooks made, by version and context, and the arguments held to them."""

import functools
import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
from django.utils import timezone

from core.duties.rows import delete
from core.errors import InvalidRequest
from core.json.canonical import canonical
from execution.models import DynamicSchema
from registry.config.selectors import settings_of
from registry.models import ToolVersion
from registry.schemas import Validator, problems_of, validator_build

LIVES = timedelta(minutes=5)
_CONTEXT = ("context", "context_data", "hints")


def schema_key(version: ToolVersion, persona_id: int, request: Mapping[str, Any]) -> bytes:
    """SHA-256 over what a schema may depend on. Sessions are private to a persona, so it counts, too."""
    given = {name: request[name] for name in _CONTEXT if request.get(name)}
    if version.takes_config:
        given["config"] = dict(settings_of(version).values)
    return hashlib.sha256(canonical({**given, "persona": persona_id})).digest()


def schema_kept(version: ToolVersion, persona_id: int, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema that the hook made for this context within the last minutes."""
    rows = DynamicSchema.objects.filter(
        tool_version_id=version.pk,
        key=schema_key(version, persona_id, request),
        expires_at__gt=timezone.now(),
    )
    found: dict[str, Any] | None = rows.values_list("schema", flat=True).first()
    return found


def schema_keep(
    version: ToolVersion, persona_id: int, request: Mapping[str, Any], schema: Mapping[str, Any], run_id: UUID
) -> None:
    """Keeps a schema that `schema_read` took, in place of an older one."""
    DynamicSchema.objects.update_or_create(
        tool_version_id=version.pk,
        key=schema_key(version, persona_id, request),
        defaults={"schema": schema, "run_id": run_id, "expires_at": timezone.now() + LIVES},
    )


def schemas_expire() -> int:
    """Removes those whose time is over. A steward's duty."""
    return delete("schemas", DynamicSchema.objects.filter(expires_at__lte=timezone.now()))


def schema_read(made: Any) -> dict[str, Any]:
    """What a hook made, as a schema within the budgets of published ones. Raises InvalidRequest."""
    if not isinstance(made, dict) or made.get("type") != "object":
        raise InvalidRequest("It is no schema of type object.")
    _validator(canonical(made))
    return made


@functools.lru_cache(maxsize=512)
def _validator(encoded: bytes) -> Validator:
    return validator_build(orjson.loads(encoded))


def problems_by(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[dict[str, str]]:
    """Where arguments do not fit a kept schema, with pointers into the call."""
    found = problems_of(_validator(canonical(schema)), arguments)
    return [{"pointer": f"/arguments{each['pointer']}", "message": each["message"]} for each in found]
