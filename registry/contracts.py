"""Reads the contract in a tool's definition: what it declares, with the strict defaults where silent."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import InvalidRequest
from security.capabilities import is_capability
from toolhub_sdk.checks.names import RESERVED
from toolhub_sdk.package import CONTRACT

TOOL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
PACKAGE_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
CATEGORIES = ("system", "file", "network", "data", "memory", "code", "mcp", "custom")
DETERMINISM = ("deterministic", "bounded", "non_deterministic")
ISOLATION = "strict"
TIMEOUT_MS = 30_000
OUTPUT_BYTES = 1_048_576
# The most that a contract may ask for, in ms and bytes.
TIMEOUT_MOST = 86_400_000
OUTPUT_MOST = 67_108_864


@dataclass(frozen=True)
class Contract:
    """What the hub holds a tool to. A tool without a contract gets the strictest reading of each line."""

    function: str
    category: str
    required_capabilities: tuple[str, ...]
    is_pure: bool
    is_idempotent: bool
    uses_network: bool
    determinism: str
    timeout_ms: int
    max_output_bytes: int


def contract_read(definition: Mapping[str, Any]) -> Contract:
    """The contract of a definition in MCP's Tool shape. Raises InvalidRequest with what is wrong."""
    name = definition.get("name")
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name) or name in RESERVED:
        raise InvalidRequest(f"{name!r} cannot be a tool's name.")
    schema = definition.get("inputSchema")
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        raise InvalidRequest(f"{name}: inputSchema must be a schema of type object.")
    declared = definition.get("_meta", {}).get(CONTRACT, {})
    bounds = declared.get("resourceBounds", {})
    return Contract(
        function=str(declared.get("function", name)),
        category=_one_of(name, "category", declared.get("category", "custom"), CATEGORIES),
        required_capabilities=_capabilities(name, declared.get("requiredCapabilities", [])),
        is_pure=_one_of(name, "sideEffects", declared.get("sideEffects", "impure"), ("pure", "impure"))
        == "pure",
        is_idempotent=bool(declared.get("idempotent", False)),
        uses_network=bool(declared.get("network", {}).get("allow")),
        determinism=_one_of(
            name, "determinism", declared.get("determinism", "non_deterministic"), DETERMINISM
        ),
        timeout_ms=_bound(name, "timeoutMs", bounds.get("timeoutMs"), TIMEOUT_MS, TIMEOUT_MOST),
        max_output_bytes=_bound(
            name, "maxOutputBytes", bounds.get("maxOutputBytes"), OUTPUT_BYTES, OUTPUT_MOST
        ),
    )


def isolation_of(declared: Mapping[str, Any]) -> str:
    """The least isolation that a contract asks for: none, basic, strict (where it is silent) or paranoid."""
    return str(declared.get("isolation", ISOLATION))


def hooks_of(definition: Mapping[str, Any]) -> Mapping[str, str]:
    """The functions beside the tool's own, by kind; most tools have none."""
    found: Mapping[str, str] = definition.get("_meta", {}).get(CONTRACT, {}).get("hooks", {})
    return found


def _one_of(tool: str, field: str, value: object, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise InvalidRequest(f"{tool}: {field} is {value!r}; it must be one of {', '.join(allowed)}.")
    return value


def _capabilities(tool: str, value: object) -> tuple[str, ...]:
    well_formed = isinstance(value, list) and all(
        isinstance(one, str) and is_capability(one) for one in value
    )
    if not isinstance(value, list) or not well_formed:
        raise InvalidRequest(
            f"{tool}: requiredCapabilities must be a list of capabilities such as file:read."
        )
    return tuple(value)


def _bound(tool: str, field: str, value: object, default: int, most: int) -> int:
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise InvalidRequest(f"{tool}: {field} must be a whole number from 1 to {most}.")
    return value
