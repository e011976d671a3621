"""The editable things of the registry: what a version of each stands for."""

from collections.abc import Mapping
from typing import Any

from core.edits import Editable, Edited
from registry.collections.models import Collection
from registry.config.schema import schema_of, scope_of
from registry.installations.models import OPEN, Installation, Status
from registry.models import Assignment, Package, Release, Tool
from registry.releases.overlay import MEMBERS, SWITCHES
from security.policy.models import FlaggedTool
from security.vault import secrets_listed

OVERLAY_EMPTY: Mapping[str, Any] = {
    **dict.fromkeys(MEMBERS, ""),
    **dict.fromkeys(SWITCHES, False),
    "tags": [],
}
"""The settings of a tool to which nobody added anything."""


def _settings(row: Tool) -> Mapping[str, Any]:
    return {**OVERLAY_EMPTY, **row.overlay}


def _collection(row: Collection) -> Mapping[str, Any]:
    return {
        "description": row.description,
        "tools": sorted(row.members.values_list("tool__name", flat=True)),
        "personas": sorted(row.assignments.values_list("persona_id", flat=True)),
    }


def _config(row: Package) -> Mapping[str, Any]:
    """Of secrets only who set them and when; a space keeps their names apart from those of settings."""
    schema = schema_of(row)
    plain = {name: row.config.get(name) for name in schema.properties if name not in schema.secret}
    secrets = {name: [one.set_by, one.set_at] for name, one in secrets_listed(scope_of(row.name)).items()}
    return {**plain, " secrets": secrets, " release": row.active_id}


def _release(row: Release) -> Mapping[str, Any]:
    states = row.tool_versions.order_by("tool_id").values_list("state", "state_reason")
    return {
        "states": [list(state) for state in states],
        "in use": row.package.active_id,
        "removed": row.removed_at,
        "uninstalled": row.package.uninstalled_at,
    }


def _stage(row: Installation) -> str:
    """As far as a person decides by it: a step that follows the one before changes nothing."""
    return "under way" if row.status in OPEN and row.status != Status.AWAITING_REVIEW else row.status


TOOL_SETTINGS: Editable[Tool] = Editable(
    "tool settings", Tool.objects.all(), _settings, lambda row: f"the settings of {row.name}"
)
TOOL_FLAG: Editable[Tool] = Editable(
    "tool flag",
    Tool.objects.all(),
    lambda row: {
        "flag": FlaggedTool.objects.filter(tool=row.name).values_list("flag__name", flat=True).first()
    },
    lambda row: f"the flag of {row.name}",
)
COLLECTION: Editable[Collection] = Editable(
    "collection", Collection.objects.all(), _collection, lambda row: f"the collection {row.name}"
)
PACKAGE: Editable[Package] = Editable(
    "package",
    Package.objects.all(),
    lambda row: {"in use": row.active_id, "uninstalled": row.uninstalled_at},
    lambda row: f"the package {row.name}",
)
PACKAGE_CONFIG: Editable[Package] = Editable(
    "package settings",
    Package.objects.select_related("active"),
    _config,
    lambda row: f"the settings of {row.name}",
)
RELEASE: Editable[Release] = Editable(
    "release", Release.objects.select_related("package"), _release, lambda row: f"the release {row}"
)
ASSIGNMENT: Editable[Assignment] = Editable(
    "assignment",
    Assignment.objects.all(),
    lambda row: {"of": [row.persona_id, row.tool_id, row.package_id, row.collection_id]},
    lambda _: "the assignment",
)
INSTALLATION: Editable[Installation] = Editable(
    "installation",
    Installation.objects.all(),
    lambda row: {"status": _stage(row), "digest": row.digest},
    lambda row: f"the installation of {row}",
)


def rule_edited(tool: Tool, rule_id: int) -> Edited[Tool]:
    """One rule that people added to a tool."""
    rules: Editable[Tool] = Editable(
        f"rule {rule_id}",
        Tool.objects.all(),
        lambda row: {"rule": next((one for one in row.rules if one["id"] == rule_id), None)},
        lambda row: f"the rule {rule_id} of {row.name}",
    )
    return rules.of(tool)
