"""What an installation's page shows."""

from collections.abc import Mapping
from typing import Any

from registry.installations.forms import ReviewForm
from registry.installations.four_eyes import eyes_of
from registry.installations.models import STEPS, Installation, Status
from registry.installations.selectors import installation_lines
from registry.models import Package
from registry.parameters import parameters_of
from registry.releases.affected import affected_by
from security.models import User

TOOLS_SHOWN = 50
_WORDS = {
    "fetch": "Fetch",
    "verify": "Verify",
    "inspect": "Inspect",
    "review": "Review",
    "prepare": "Prepare",
    "self_test": "Self-test",
    "publish": "Publish",
}


def page_context(one: Installation, person: User, first: int = 0) -> dict[str, Any]:
    """What the page shows to a person; of its tools TOOLS_SHOWN from the first on."""
    known = {step["name"]: step for step in one.steps}
    tools, changes = one.report.get("tools", []), one.report.get("difference", [])
    return {
        "one": one,
        "following": one.status in {Status.QUEUED, Status.RUNNING},
        "words": [{"name": name, "title": _WORDS[name], "step": known.get(name)} for name in STEPS],
        "lines": installation_lines(one),
        "tools": [_tool(tool) for tool in tools[first : first + TOOLS_SHOWN]],
        "tools_next": first + TOOLS_SHOWN if len(tools) > first + TOOLS_SHOWN else None,
        "tools_back": max(0, first - TOOLS_SHOWN) if first else None,
        "careful": [change for change in changes if change["careful"]],
        "calm": [change for change in changes if not change["careful"]],
        **(_reviewing(one, person) if one.status == Status.AWAITING_REVIEW else {}),
    }


def review_form(one: Installation, data: Any = None) -> ReviewForm:
    """The reviewer's form, with a field for each tool whose name is taken."""
    clashes = [tool for tool in one.report.get("tools", []) if tool["clash"]]
    return ReviewForm(
        data, package=one.package, clashes=clashes, initial={"digest": one.digest, "activate": True}
    )


def _reviewing(one: Installation, person: User) -> dict[str, Any]:
    package = Package.objects.filter(name=one.package).first()
    return {
        "reviewing": True,
        "form": review_form(one),
        "eyes": eyes_of(person, one),
        "affected": affected_by(package).in_words() if package else [],
    }


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    # A report that an older version of the hub made has less in it.
    fits, reasons = tool.get("fits", []), tool.get("reasons", {})
    return {
        **tool,
        "called": tool.get("called", tool["name"]),
        "summary": _summary(tool),
        "wants": [(name, reasons.get(name, "")) for name in tool["capabilities"]],
        "whole": [fit["provider"] for fit in fits if not fit["unfit"] and not fit["count"]],
        "changed": [fit for fit in fits if fit["count"]],
        "unfit": [fit for fit in fits if fit["unfit"]],
        "inputs": parameters_of(tool["inputSchema"]),
        "outputs": parameters_of(tool["outputSchema"]) if tool["outputSchema"] else [],
    }


def _summary(tool: Mapping[str, Any]) -> str:
    parts = ["pure" if tool["pure"] else "impure"]
    parts += [f"needs {', '.join(tool['capabilities'])}"] if tool["capabilities"] else []
    parts += [f"network {', '.join(tool['network'])}"] if tool["network"] else []
    return ", ".join(parts)
