"""Tests of a package's secrets: their form, and the request that its manifest declares for them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Conflict, NotFound, ToolHubError
from core.http.probe import Asked, credentials_probe
from core.http.urls import url_read
from registry.config.schema import ConfigSchema, schema_of, scope_of
from registry.config.selectors import UNFIT, Settings, settings_read
from registry.config.services import CHANGE, HEADER, header_templates
from registry.models import Package
from security.acting import By, acting
from security.secret_tests import PreparedTest, Report, SecretReport, tests_limit
from toolhub_sdk import ToolError
from toolhub_sdk.config_check import CheckRequest, check_request, check_settings
from toolhub_sdk.setting_templates import IN_TEMPLATE

_SCHEME = re.compile(r"(Bearer|Basic|Token) +\{([A-Za-z0-9_-]+)\}", re.IGNORECASE)
NO_REQUEST = (
    "The package declares no request that would show whether a server accepts them (configCheck in its "
    "manifest). Call one of its tools to see."
)


@dataclass(frozen=True)
class Plan:
    """What a test of a package's secrets will do.

    `request` is `METHOD host:port`, None where none is declared. `sent` are the secrets that it carries; of
    `unsent` only the form is judged.
    """

    request: str | None
    sent: tuple[str, ...]
    unsent: tuple[str, ...]


def plan_of(package: Package) -> Plan:
    """What a test will do. Raises NotFound for a package without secrets."""
    schema, check = _schema(package), _check(package)
    sent = check_settings(check) & schema.secret if check else frozenset()
    request = f"{check.get('method', 'GET')} {_host(check)}" if check else None
    return Plan(request, tuple(sorted(sent)), tuple(sorted(schema.secret - sent)))


def config_test(*, by: By, package: Package) -> PreparedTest:
    """Prepare a test of all secrets of a package.

    Raises Denied, Conflict for an uninstalled package, NotFound for one without secrets, and ToolHubError
    RATE_LIMIT.
    """
    actor = acting(by, CHANGE, on=[package])
    if package.uninstalled_at is not None:
        raise Conflict(f"{package.name} is uninstalled.")
    schema = _schema(package)
    tests_limit(actor)
    return PreparedTest(actor, scope_of(package.name), lambda: _report(package, schema))


def _schema(package: Package) -> ConfigSchema:
    schema = schema_of(package)
    if not schema.secret:
        raise NotFound(f"{package.name} has no secrets.")
    return schema


def _check(package: Package) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = package.active.manifest.get("configCheck") if package.active else None
    return found


def _host(check: Mapping[str, Any]) -> str:
    url = url_read(check["url"])
    return f"{url.host}:{url.port}"


def _report(package: Package, schema: ConfigSchema) -> Report:
    try:
        settings = settings_read(package.name, schema)
    except ToolHubError as error:  # no key opens them
        why = f"{error.message} {' '.join(error.suggestions)}"
        return Report(
            "invalid", why, tuple(SecretReport(name, "invalid", ()) for name in sorted(schema.secret))
        )
    check = _check(package)
    secrets = tuple(_form(package, schema, settings, check, name) for name in sorted(schema.secret))
    sent = check_settings(check) & schema.secret if check else frozenset()
    missing = sorted((sent | (schema.required & schema.secret)) - settings.secrets.keys())
    if missing:
        return Report("missing", f"Not set: {', '.join(missing)}. No server was asked.", secrets)
    if check is None:
        wrong = [one.name for one in secrets if one.state == "invalid"]
        if wrong:
            return Report("invalid", f"This cannot be right: {', '.join(wrong)}. {NO_REQUEST}", secrets)
        return Report("untested", NO_REQUEST, secrets)
    return _asked(check, settings, secrets)


def _form(
    package: Package, schema: ConfigSchema, settings: Settings, check: Mapping[str, Any] | None, name: str
) -> SecretReport:
    """What is wrong with one secret by its form, its schema and the headers that carry it."""
    value = settings.secrets.get(name)
    if value is None:
        return SecretReport.of(name, None)
    problems = [UNFIT] if any(_is_at(one["pointer"], name) for one in settings.problems) else []
    templates = [*header_templates(package), *(check or {}).get("headers", {}).values()]
    if any(name in IN_TEMPLATE.findall(text) for text in templates) and not HEADER.fullmatch(value):
        problems.append("It is sent in a header, which holds one line of printable ASCII.")
    for text in templates:
        found = _SCHEME.fullmatch(text.strip())
        if found and found[2] == name and value.lower().startswith(f"{found[1].lower()} "):
            problems.append(f"It begins with {found[1]}, which the header adds already.")
            break
    return SecretReport.of(name, value, *problems)


def _is_at(pointer: str, name: str) -> bool:
    return pointer.split("/")[2:3] == [name]


def _asked(check: Mapping[str, Any], settings: Settings, secrets: tuple[SecretReport, ...]) -> Report:
    try:
        request = check_request(check, {**settings.values, **settings.secrets})
        without = check_request(check, settings.values)
    except ToolError as error:
        return Report("invalid", f"{error.message} No server was asked.", secrets)
    probe = credentials_probe(_ask(request), _ask(without))
    return Report.of(probe, secrets, "Set it again, and test once more.")


def _ask(request: CheckRequest) -> Asked:
    return Asked(request.url, request.headers, request.method)
