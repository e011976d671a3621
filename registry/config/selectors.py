"""What tools get of their package's settings, and what people see of them."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import ToolHubError
from registry.config.schema import NO_CONFIG, ConfigSchema, schema_of, schema_of_release, scope_of
from registry.models import Package, Release, ToolVersion
from registry.schemas import problems_of
from security.models import Secret
from security.sealing import Unsealable
from security.vault import secrets_listed, secrets_read

UNFIT = "It does not fit what the package asks of it."


@dataclass(frozen=True)
class Settings:
    """What a tool gets: `values` with defaults, and `secrets`. `problems` are `{pointer, message}`."""

    values: Mapping[str, Any] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    problems: tuple[Mapping[str, str], ...] = ()


NOTHING = Settings()


def settings_of(version: ToolVersion) -> Settings:
    """The settings that a tool gets now. Raises ToolHubError NOT_CONFIGURED without the vault's key."""
    if not version.takes_config:
        return NOTHING
    return settings_read(version.tool.package.name, _schema(version.digest, _Version(version)))


def settings_check(version: ToolVersion) -> None:
    """Raises ToolHubError NOT_CONFIGURED, with a pointer to each setting, where a tool lacks one."""
    if version.takes_config:
        problems_raise(version, settings_of(version))


def problems_raise(version: ToolVersion, settings: Settings) -> None:
    """Raises ToolHubError NOT_CONFIGURED, if there is a problem."""
    if not settings.problems:
        return
    package = version.tool.package.name
    wrong = [(each["pointer"].split("/")[2:] or ["its settings"])[0] for each in settings.problems]
    names = ", ".join(dict.fromkeys(wrong))
    raise ToolHubError(
        f"The package {package} is not set up: {names}.",
        code="NOT_CONFIGURED",
        suggestions=[f"Set {names} on the page of the package {package}. (Who may change packages can.)"],
        errors=settings.problems,
    )


def settings_read(package: str, schema: ConfigSchema) -> Settings:
    """The settings of a package as a release's schema takes them; others that were set are left out."""
    if not schema.properties:
        return NOTHING
    kept = Package.objects.filter(name=package).values_list("config", flat=True).first() or {}
    try:
        secrets = secrets_read(scope_of(package), schema.secret) if schema.secret else {}
    except Unsealable as error:
        raise ToolHubError(
            f"The secrets of the package {package} cannot be opened.",
            code="NOT_CONFIGURED",
            suggestions=["Give the hub the key that sealed them in TOOLHUB_VAULT_KEYS, or set them again."],
        ) from error
    plain = schema.properties.keys() - schema.secret
    values = schema.defaults | {name: value for name, value in kept.items() if name in plain}
    return Settings(values, secrets, tuple(problems_in(schema, {**values, **secrets})))


def problems_in(schema: ConfigSchema, whole: Mapping[str, Any]) -> list[dict[str, str]]:
    """What is wrong with settings, by `/config/NAME`; no message of it holds a secret."""
    missing = sorted(schema.required - whole.keys())
    found = [{"pointer": f"/config/{name}", "message": "It is not set."} for name in missing]
    if schema.validator is None or missing:
        return found
    for each in problems_of(schema.validator, dict(whole)):
        # What is said of the whole may quote any of it.
        name = each["pointer"].split("/")[1] if each["pointer"] else ""
        message = UNFIT if not name or name in schema.secret else each["message"]
        found.append({"pointer": f"/config{each['pointer']}", "message": message})
    return found


@dataclass(frozen=True)
class Shown:
    """One setting as people see it: `value` is None for a secret, of which only `row` is told."""

    name: str
    about: Mapping[str, Any]
    secret: bool
    required: bool
    value: Any
    is_set: bool
    row: Secret | None

    @property
    def missing(self) -> bool:
        return self.required and not self.is_set and "default" not in self.about


def settings_shown(package: Package) -> list[Shown]:
    """Every setting of the release in use, by name."""
    schema = schema_of(package)
    rows = secrets_listed(scope_of(package.name)) if schema.secret else {}
    shown = []
    for name, about in schema.properties.items():
        secret = name in schema.secret
        is_set = name in (rows if secret else package.config)
        value = None if secret else package.config.get(name, about.get("default"))
        shown.append(Shown(name, about, secret, name in schema.required, value, is_set, rows.get(name)))
    return shown


class _Version:
    """Carries a version past the cache's key."""

    __slots__ = ("version",)

    def __init__(self, version: ToolVersion) -> None:
        self.version = version

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Version) and other.version.digest == self.version.digest

    def __hash__(self) -> int:
        return hash(self.version.digest)


@functools.lru_cache(maxsize=512)
def _schema(digest: str, source: _Version) -> ConfigSchema:
    """A version's release is read once: its manifest never changes."""
    version = source.version
    if not version.release_id:  # not published yet
        return schema_of_release(version.release)
    release = Release.objects.only("digest", "manifest").filter(pk=version.release_id).first()
    return schema_of_release(release) if release else NO_CONFIG
