"""The request with which the hub tests the secrets of a package: the manifest's `configCheck`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from toolhub_sdk.normal_form import url_split
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.problem import Problem
from toolhub_sdk.setting_templates import filled, headers_filled, names_in, template_problems

_HERE = "/configCheck"


@dataclass(frozen=True)
class CheckRequest:
    """The request as it goes out. It has no body."""

    method: str
    url: str
    headers: Mapping[str, str]


def check_settings(check: Mapping[str, Any]) -> frozenset[str]:
    """The names of the settings and secrets that the request carries."""
    return names_in(check.get("headers", {})) | names_in(check.get("query", {}))


def check_request(check: Mapping[str, Any], settings: Mapping[str, Any]) -> CheckRequest:
    """The request with these settings; headers and parameters for which one is missing are left out.

    Raises ToolError NOT_CONFIGURED for values that the request cannot hold.
    """
    headers = dict(headers_filled(check.get("headers", {}), settings))
    query = urlencode(list(filled(check.get("query", {}), settings)), quote_via=quote)
    url = f"{check['url']}?{query}" if query else check["url"]
    return CheckRequest(check.get("method", "GET"), url, {"Accept": "application/json, */*;q=0.5", **headers})


def config_check_problems(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the request of a manifest whose form is right; nothing where it declares none."""
    check, config = manifest.get("configCheck"), manifest.get("config", {})
    if check is None:
        return
    yield from _address_problems(check["url"], manifest["tools"])
    yield from template_problems(check.get("query", {}), config, f"{_HERE}/query")
    yield from template_problems(check.get("headers", {}), config, f"{_HERE}/headers", headers=True)
    if not any(_is_secret(config, name) for name in check_settings(check)):
        message = "The request carries no secret, so its answer says nothing about one."
        yield Problem(_HERE, message, 'Write one into headers, such as "Bearer {api_key}".')


def _address_problems(url: str, tools: list[Mapping[str, Any]]) -> Iterator[Problem]:
    try:
        parts = url_split(url)
        host = f"{parts.hostname or ''}:{parts.port or (443 if parts.scheme.endswith('s') else 80)}"
    except ValueError:
        yield Problem(f"{_HERE}/url", "This is no address.", "Write https://api.example.org/v1/me.")
        return
    if parts.query or parts.fragment or "@" in parts.netloc:
        message = "The address has a query, a fragment or a user's name."
        yield Problem(f"{_HERE}/url", message, "Write parameters into query, and credentials into headers.")
    contracts = (tool.get("_meta", {}).get(CONTRACT, {}) for tool in tools)
    allowed = [one for contract in contracts for one in contract.get("network", {}).get("allow", [])]
    if not any(host.endswith(one[1:]) if one.startswith("*.") else host == one for one in allowed):
        message = f"The request goes to {host}, which network.allow of no tool names."
        yield Problem(f"{_HERE}/url", message, f'Test at a server of the tools, or add "{host}" to one.')


def _is_secret(config: Mapping[str, Any], name: str) -> bool:
    properties = config.get("properties")
    setting = properties.get(name) if isinstance(properties, Mapping) else None
    return isinstance(setting, Mapping) and setting.get("secret") is True
