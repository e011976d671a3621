"""What the review says of one tool."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from core.json.canonical import canonical
from registry.contract_words import contract_groups
from registry.installations.reasons import reason_of
from registry.lint.providers import fits_of
from registry.models import Tool
from registry.releases.draft import Draft, DraftTool

# Who holds a name that a tool would have.
IN_PACKAGE, IN_HUB = "another tool of the package", "another package"
# Of what a provider's converter changes, so much stands in the review.
CHANGES_SHOWN = 10
# Of a tool's examples, so many, and none that is longer than this.
SAMPLES_SHOWN = 3
SAMPLE_BYTES = 2_000


def tool_report(one: DraftTool, draft: Draft, called: Mapping[str, str]) -> dict[str, Any]:
    """`name` is the tool's own, `called` its name in the hub, `clash` who holds that already.

    `called` gives the names of releases before. Which other package holds a name is not told: a team may
    keep it.
    """
    definition, declared = one.version.definition, one.version.declared
    name = called.get(one.name, one.name)
    return {
        "name": one.name,
        "called": name,
        "title": definition.get("title", one.name),
        "description": definition.get("description", ""),
        "capabilities": list(one.contract.required_capabilities),
        "reasons": {
            capability: reason_of(capability, definition.get("description", ""), declared)
            for capability in one.contract.required_capabilities
        },
        "pure": one.contract.is_pure,
        "idempotent": one.contract.is_idempotent,
        "determinism": one.contract.determinism,
        "timeout_ms": one.contract.timeout_ms,
        "isolation": declared.get("isolation", "strict"),
        "network": declared.get("network", {}).get("allow", []),
        "filesystem": declared.get("filesystem", {}),
        "effects": [
            effect.get("description", effect.get("type", "")) for effect in declared.get("effects", [])
        ],
        "examples": len(declared.get("examples", [])),
        "samples": [one for one in declared.get("examples", []) if _is_short(one)][:SAMPLES_SHOWN],
        "errors": [_error(one) for one in declared.get("errors", [])],
        "contract": [
            {"heading": group.heading, "lines": [asdict(line) for line in group.lines]}
            for group in contract_groups(one.version)
        ],
        "fits": _fits(definition),
        "inputSchema": definition["inputSchema"],
        "outputSchema": definition.get("outputSchema"),
        "clash": _clash(name, one.name, draft, called),
    }


def _is_short(example: Mapping[str, Any]) -> bool:
    return len(canonical(example)) <= SAMPLE_BYTES


def _error(error: Mapping[str, Any]) -> dict[str, str]:
    return {"code": error["code"], "description": error.get("description", "")}


def _clash(name: str, own: str, draft: Draft, called: Mapping[str, str]) -> str | None:
    package = draft.release.package.name
    others = [called.get(tool.name, tool.name) for tool in draft.tools if tool.name != own]
    if name in others:
        return IN_PACKAGE
    return IN_HUB if Tool.objects.filter(name=name).exclude(package__name=package).exists() else None


def _fits(definition: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each model provider's verdict: `unfit` is why it cannot take the tool, `changes` what it would lose."""
    return [
        {
            "provider": fit.provider,
            "unfit": fit.unfit,
            "changes": [
                {"pointer": change.pointer, "message": change.message}
                for change in fit.changes[:CHANGES_SHOWN]
            ],
            "count": len(fit.changes),
        }
        for fit in fits_of(definition)
    ]
