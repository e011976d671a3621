"""A package of tools as its `toolhub.json`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from toolhub_sdk.normalise import normalise
from toolhub_sdk.terms import DeclaredError, Example, Rule
from toolhub_sdk.tool import ToolSpec, spec_of

MANIFEST_VERSION = "1"
CONTRACT = "io.toolhub/contract"
"""Where in an MCP tool's `_meta` the contract stands."""

_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
_NUMBER = r"(?:0|[1-9][0-9]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(?:-(?:{_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:{_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?"
)


@dataclass(frozen=True, kw_only=True)
class Package:
    """What is installed as one: name, exact version (semver 2.0.0) and what people read about it.

    `requires` is the requirements file of the package, for a module that needs others; `tools` are the other
    tools that it needs, each with a range of versions such as ^1.2. `config` is the JSON Schema of its
    settings; a property with `"secret": True` is kept in the vault. `config_check` is the request with which
    the hub tests secrets, `{url, method, query, headers}`. `icon` is a file of the package. Raises ValueError
    for a malformed name or version.
    """

    name: str
    version: str
    title: str
    description: str
    license: str
    author: str
    keywords: Sequence[str] = ()
    requires: str | None = None
    config: Mapping[str, Any] | None = None
    config_check: Mapping[str, Any] | None = None
    tools: Mapping[str, str] = field(default_factory=dict)
    homepage: str | None = None
    icon: str | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"A package's name matches {_NAME.pattern}, not {self.name!r}.")
        if not _SEMVER.fullmatch(self.version):
            raise ValueError(f"{self.version!r} is not a version like 1.4.0 (semver 2.0.0).")


def manifest_of(module: ModuleType, package: Package, *, runtime: str) -> dict[str, Any]:
    """The manifest of the tools that the module defines, in the order of their definition, as plain JSON.

    `runtime` is its `runtime.type`.

    Raises ValueError for a module without tools or with two of one name, and ToolError INVALID_OUTPUT for
    an example or default that is not JSON.
    """
    requires = {"requires": package.requires} if package.requires else {}
    more: dict[str, Any] = {name: getattr(package, name) for name in ("homepage", "icon", "config")}
    more["configCheck"] = package.config_check
    more["dependencies"] = {"tools": package.tools} if package.tools else None
    return {
        "manifestVersion": MANIFEST_VERSION,
        "name": package.name,
        "version": package.version,
        "title": package.title,
        "description": package.description,
        "author": {"name": package.author},
        "license": package.license,
        "keywords": list(package.keywords),
        "runtime": {"type": runtime, "entry": module.__name__, **requires},
        **{name: normalise(value) for name, value in more.items() if value},
        "tools": tools_of(module),
    }


def tools_of(module: ModuleType) -> list[dict[str, Any]]:
    """The definitions of the tools that the module or its submodules define, as MCP has them.

    Raises as `manifest_of`.
    """
    specs = [spec for value in vars(module).values() if (spec := spec_of(value)) and _is_own(value, module)]
    names = [spec.name for spec in specs]
    if not names:
        raise ValueError(f"{module.__name__} has no tools. Write @tool(…) above a function of the module.")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{module.__name__} has two tools of one name: {', '.join(twice)}.")
    return [_tool(spec) for spec in specs]


def is_package_name(text: str) -> bool:
    """Whether a package can have this name."""
    return _NAME.fullmatch(text) is not None


def _is_own(function: object, module: ModuleType) -> bool:
    defined = str(getattr(function, "__module__", ""))
    return defined == module.__name__ or defined.startswith(f"{module.__name__}.")


def _tool(spec: ToolSpec) -> dict[str, Any]:
    """The tool as MCP has it, so that nothing is lost on the way in or out."""
    output = {} if spec.output_schema is None else {"outputSchema": spec.output_schema}
    return {
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "inputSchema": spec.input_schema,
        **output,
        "annotations": {
            "readOnlyHint": spec.side_effects == "pure",
            "idempotentHint": spec.idempotent,
            "openWorldHint": bool(spec.network),
        },
        "_meta": {CONTRACT: _contract(spec)},
    }


def _contract(spec: ToolSpec) -> dict[str, Any]:
    hooks = {kind: hook.__name__ for kind, hook in spec.hooks.items()}
    more: dict[str, Any] = {name: getattr(spec, name) for name in ("memory", "preconditions", "effects")}
    more["retry"] = None if spec.retry == "NONE" else spec.retry
    validators = [_rule(each) for each in spec.validators]
    return {
        **{name: normalise(value) for name, value in more.items() if value},
        "category": spec.category,
        "tags": list(spec.tags),
        "requiredCapabilities": list(spec.capabilities),
        "sideEffects": spec.side_effects,
        "idempotent": spec.idempotent,
        "determinism": spec.determinism,
        "resourceBounds": {
            "timeoutMs": spec.timeout_ms,
            "maxOutputBytes": spec.max_output_bytes,
            **spec.bounds,
        },
        "isolation": spec.isolation,
        "network": {"allow": list(spec.network)},
        "errors": [_error(each) for each in spec.errors],
        "examples": [_example(each) for each in spec.examples],
        "function": spec.function,
        **({"hooks": hooks} if hooks else {}),
        **({"validators": validators} if validators else {}),
        **({"requiresApproval": True} if spec.requires_approval else {}),
        **({"sanitise": True} if spec.sanitise else {}),
        **({"contentChecks": spec.content_checks} if spec.content_checks != "record" else {}),
        **({"fieldKinds": dict(spec.field_kinds)} if spec.field_kinds else {}),
        **{name: normalise(value) for name, value in spec.more.items()},
    }


def _rule(rule: Rule) -> dict[str, str]:
    about = {"pointer": rule.pointer} if rule.pointer else {}
    return {"expression": rule.expression, "message": rule.message, **about}


def _error(error: DeclaredError) -> dict[str, Any]:
    more = {"description": error.description} if error.description else {}
    more |= {"type": error.type} if error.type != "execution" else {}
    more |= {"severity": error.severity} if error.severity != "medium" else {}
    about = {"recoverable": error.recoverable, "suggestions": list(error.suggestions)}
    return {"code": error.code, **about, **more}


def _example(example: Example) -> dict[str, Any]:
    about = {"description": example.description} if example.description else {}
    shown: dict[str, Any] = {**about, "arguments": normalise(example.arguments)}
    return shown if example.result is ... else {**shown, "result": normalise(example.result)}
