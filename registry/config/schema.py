"""The schema of a package's settings, as its release has it."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.models import Package, Release
from registry.schemas import Validator, validator_build


@dataclass(frozen=True)
class ConfigSchema:
    """What settings there are: `properties` by name; `secret` names the vault's."""

    schema: Mapping[str, Any]
    properties: Mapping[str, Mapping[str, Any]]
    secret: frozenset[str]
    required: frozenset[str]
    validator: Validator | None = field(repr=False, compare=False)

    @property
    def defaults(self) -> dict[str, Any]:
        """The values of settings that nobody set, where the schema has some."""
        return {name: one["default"] for name, one in self.properties.items() if "default" in one}


NO_CONFIG = ConfigSchema({}, {}, frozenset(), frozenset(), None)


def schema_of_release(release: Release | None) -> ConfigSchema:
    """The schema of a release's settings; one without any where there is none."""
    if release is None or not release.manifest.get("config"):
        return NO_CONFIG
    return _read(release.digest, _Source(release.digest, release.manifest["config"]))


def schema_of(package: Package) -> ConfigSchema:
    """The schema of the release in use."""
    return schema_of_release(package.active)


def scope_of(package: str) -> str:
    """The vault's scope of a package's secrets."""
    return f"package:{package}"


class _Source:
    """Carries a schema past the cache's key: equal for equal digests."""

    __slots__ = ("digest", "schema")

    def __init__(self, digest: str, schema: Mapping[str, Any]) -> None:
        self.digest, self.schema = digest, schema

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Source) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)


@functools.lru_cache(maxsize=512)
def _read(digest: str, source: _Source) -> ConfigSchema:
    schema = source.schema
    found = schema.get("properties", {})
    properties = {name: one if isinstance(one, Mapping) else {} for name, one in found.items()}
    secret = frozenset(name for name, one in properties.items() if one.get("secret") is True)
    required = frozenset(name for name in schema.get("required", ()) if name in properties)
    return ConfigSchema(schema, properties, secret, required, validator_build(schema))
