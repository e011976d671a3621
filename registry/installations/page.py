"""What an installation's page shows."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from registry.installations.approval import objection_of
from registry.installations.forms import ReviewForm
from registry.installations.four_eyes import eyes_of
from registry.installations.models import STEPS, Installation, SourceType, Status
from registry.installations.selectors import installation_lines
from registry.installations.sources.zip_address import HIDDEN
from registry.lint import ALARMS
from registry.models import Package
from registry.parameters import parameters_of
from registry.releases.affected import affected_by
from security.models import User

TOOLS_SHOWN = 50
# Of the places that one warning is about.
PLACES_SHOWN = 5
_IN_TOOL = re.compile(r"/tools/([0-9]{1,4})(/.*|)")
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
        "warnings": _warnings(one.report),
        "careful": [change for change in changes if change["careful"]],
        "calm": [change for change in changes if not change["careful"]],
        "anew": _anew(one) if one.status in {Status.FAILED, Status.CANCELLED} else "",
        **(_reviewing(one, person) if one.status == Status.AWAITING_REVIEW else {}),
    }


def review_form(one: Installation, data: Any = None) -> ReviewForm:
    """The reviewer's form, with a field for each tool whose name is taken."""
    clashes = [tool for tool in one.report.get("tools", []) if tool["clash"]]
    return ReviewForm(data, clashes=clashes, objection=objection_of(one), initial={"digest": one.digest})


def _anew(one: Installation) -> str:
    """The address of the form that fetches the same source once more."""
    given = {"type": one.source_type, "ref": one.ref, "path": one.path, "digest": one.expected_digest}
    if one.source_type in {SourceType.GIT, SourceType.URL} and not one.location.endswith(HIDDEN):
        given["location"] = one.location
    kept = {name: value for name, value in given.items() if value}
    return f"{reverse('install')}?{urlencode(kept)}"


def _reviewing(one: Installation, person: User) -> dict[str, Any]:
    package = Package.objects.filter(name=one.package).first()
    return {
        "reviewing": True,
        "form": review_form(one),
        "eyes": eyes_of(person, one),
        "affected": affected_by(package).in_words(person) if package else [],
    }


def _warnings(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each warning once: `{message, alarm, places, more}`, with `{tool, place}` for the first places."""
    tools = report.get("tools", [])
    found: dict[str, dict[str, Any]] = {}
    for one in report.get("warnings", []):
        made = {"message": one["message"], "alarm": one["code"] in ALARMS, "places": [], "more": 0}
        same = found.setdefault(one["message"], made)
        if len(same["places"]) < PLACES_SHOWN:
            same["places"].append(_place(one["pointer"], tools))
        else:
            same["more"] += 1
    return list(found.values())


def _place(pointer: str, tools: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """A pointer with its tool's name in place of the number that it begins with."""
    found = _IN_TOOL.fullmatch(pointer)
    if found is None or int(found[1]) >= len(tools):
        return {"tool": "", "place": pointer}
    return {"tool": tools[int(found[1])]["name"], "place": found[2]}


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
