"""The review as plain text, for operators at a terminal."""

from collections.abc import Mapping
from typing import Any

from registry.installations.approval import objection_of
from registry.installations.models import Installation


def review_text(one: Installation) -> str:
    """What is about to be published, with its warnings first."""
    report = one.report
    lines = [f"{one.package} {one.version} from {one.location}", f"SHA-256 {one.digest}", ""]
    lines += [f"! {one['message']} ({one['pointer'] or 'package'})" for one in report.get("warnings", [])]
    if objection := objection_of(one):
        lines.append(f"! {objection} It stays out of use unless you give --activate.")
    for tool in report.get("tools", []):
        kind = "pure" if tool["pure"] else "impure"
        name = tool["name"] if tool["called"] == tool["name"] else f"{tool['name']} → {tool['called']}"
        lines.append(f"  {name}  {kind}, isolation {tool['isolation']}")
        for label, value in (("capabilities", tool["capabilities"]), ("network", tool["network"])):
            if value:
                lines.append(f"      {label}: {', '.join(value)}")
        for fit in tool["fits"]:
            if fit["unfit"]:
                lines.append(f"      not for {fit['provider']}: {fit['unfit']}")
        if tool["clash"]:
            lines.append(f"      its name belongs to {tool['clash']}")
    for need in report.get("needs", []):
        lines.append(f"  asks for the tool {need['tool']} {need['range']}: {_found(need)}")
    if report.get("dependencies"):
        lines.append(f"  dependencies: {', '.join(report['dependencies'])}")
    for change in report.get("difference", []):
        mark = "!" if change["careful"] else " "
        lines.append(f"{mark} {change['kind']} {change['tool']}{change['pointer']}")
    return "\n".join(lines)


def _found(need: Mapping[str, Any]) -> str:
    if not need["version"]:
        return "not here"
    return f"{need['version']} is in use" + ("" if need.get("fits", True) else ", which does not fit")
