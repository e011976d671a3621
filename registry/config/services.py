"""The write door of a package's settings."""

import re
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from audit.ledger import Entry, record
from core.errors import Conflict, InvalidRequest
from core.json.canonical import CanonicalError, canonical
from registry.config.schema import ConfigSchema, schema_of, scope_of
from registry.config.selectors import UNFIT
from registry.event_kinds import PACKAGE_CONFIGURED
from registry.models import Package
from registry.schemas import problems_of_part
from security.acting import By, acting
from security.vault import secret_remove, secret_set
from toolhub_sdk.runtimes.registry import runtime_find
from toolhub_sdk.setting_templates import IN_TEMPLATE

CHANGE = "registry.change_package"
BYTES_MAX = 65_536
HEADER = re.compile(r"[ -~]*")
"""What a header can hold: one line of printable ASCII."""


def config_change(*, by: By, package: Package, changes: Mapping[str, Any]) -> Package:
    """Sets what `changes` names and leaves the rest; None takes a setting back (RFC 7396, one level deep).

    Secret ones go to the vault. The record names what was set, not the values. What is required may still be
    missing: calls are refused until it is there. Raises Denied, Conflict, and InvalidRequest with a pointer
    `/NAME` to each setting that is wrong.
    """
    actor = acting(by, CHANGE, on=[package])
    with transaction.atomic():
        row = Package.objects.select_for_update(of=("self",)).select_related("active").get(pk=package.pk)
        if row.uninstalled_at is not None:
            raise Conflict(f"{row.name} is uninstalled.")
        schema = schema_of(row)
        if not changes:
            return row
        _known(schema, changes)
        changes = _pasted(row, schema, changes)
        row.config = _changed(schema, row.config, changes)
        _fits(schema, row.config, changes)
        row.save(update_fields=["config"])
        for name in sorted(schema.secret & changes.keys()):
            if changes[name] is None:
                secret_remove(actor=actor, scope=scope_of(row.name), name=name)
            else:
                secret_set(actor=actor, scope=scope_of(row.name), name=name, value=changes[name])
        plain = sorted(changes.keys() - schema.secret)
        if plain:
            data = {
                "set": [name for name in plain if changes[name] is not None],
                "taken_back": [name for name in plain if changes[name] is None],
            }
            record(Entry(PACKAGE_CONFIGURED, actor, "package", row.name, data))
    return row


def _known(schema: ConfigSchema, changes: Mapping[str, Any]) -> None:
    unknown = [str(name) for name in changes if name not in schema.properties]
    if unknown:
        known = ", ".join(schema.properties) or "none"
        raise InvalidRequest(
            "The package has no such setting.",
            code="UNKNOWN_MEMBER",
            errors=[{"pointer": f"/{name[:64]}", "message": f"Unknown. Known: {known}."} for name in unknown],
        )


def is_pasted(value: Any) -> bool:
    """Whether a text is one line with line breaks around it, as a terminal gives to the clipboard."""
    return isinstance(value, str) and value != (bare := value.strip("\r\n")) and "\n" not in bare


def _pasted(package: Package, schema: ConfigSchema, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes with secrets of one line bare of line breaks. Raises InvalidRequest.

    A secret that is sent in a header has one line: with more, each call would fail.
    """
    found = dict(changes)
    for name in sorted(schema.secret & changes.keys()):
        if is_pasted(found[name]):
            found[name] = found[name].strip("\r\n")
    in_headers = header_settings(package)
    errors = [
        {"pointer": f"/{name}", "message": f"{name} is sent in a header: it must be one line of ASCII."}
        for name, value in found.items()
        if name in in_headers and isinstance(value, str) and not HEADER.fullmatch(value)
    ]
    if errors:
        raise InvalidRequest("A setting that is sent in a header is not one line of ASCII.", errors=errors)
    return found


def header_settings(package: Package) -> frozenset[str]:
    """The names of the settings that tools of the release in use send in headers."""
    return frozenset(name for text in header_templates(package) for name in IN_TEMPLATE.findall(text))


def header_templates(package: Package) -> list[str]:
    """The texts with `{name}` for settings that tools of the release in use send in headers."""
    runtime = runtime_find(package.active.runner) if package.active else None
    tools = package.active.manifest.get("tools", ()) if package.active and runtime else ()
    return [text for tool in tools for text in runtime.header_templates(tool).values()] if runtime else []


def _changed(schema: ConfigSchema, config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The plain settings afterwards. Those of another release stay, for a roll back."""
    try:
        canonical(dict(changes))
    except CanonicalError as error:
        raise InvalidRequest("The settings are not exact JSON.") from error
    plain = {name: value for name, value in changes.items() if name not in schema.secret}
    after = {name: value for name, value in {**config, **plain}.items() if value is not None}
    if len(canonical(after)) > BYTES_MAX:
        raise InvalidRequest(f"The settings of a package have at most {BYTES_MAX:,} bytes.")
    return after


def _fits(schema: ConfigSchema, config: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    """Judges what is set now; what is not set, and the secrets of before, are left out of it."""
    given = {name: value for name, value in changes.items() if value is not None}
    here = {name: config[name] for name in schema.properties if name in config}
    whole = {**schema.defaults, **here, **given}
    missing = schema.properties.keys() - whole.keys()
    found = problems_of_part(schema.validator, whole, missing) if schema.validator else []
    errors = []
    for each in found:
        name = each["pointer"].split("/")[1] if each["pointer"] else ""
        hidden = not name or name in schema.secret
        errors.append({"pointer": each["pointer"], "message": UNFIT if hidden else each["message"]})
    if errors:
        raise InvalidRequest("A setting does not fit.", errors=errors)
