"""The write doors of the rules that people add to a tool. They stay when its release changes."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit.ledger import Entry, record
from core.cel import cel_check, cel_names
from core.errors import InvalidRequest, NotFound
from core.json.pointer import POINTER, pointer_is
from registry.event_kinds import TOOL_RULE_ADDED, TOOL_RULE_REMOVED
from registry.models import Tool
from security.acting import By, acting, person_behind
from security.loosening import safeguard_change, safeguarded
from toolhub_sdk.checks.expressions import CALL
from toolhub_sdk.checks.rule_names import unknown_argument

# What a rule may name.
NAMES = (*CALL, "tier")
RULES_MAX = 20
MESSAGE_MAX, POINTER_MAX = 500, 300


def rule_add(*, by: By, tool: Tool, expression: str, message: str, pointer: str = "") -> dict[str, Any]:
    """Adds a rule that holds from the tool's next call on, in every process; returns it as it is kept.

    `{id, expression, message, pointer, by, at}`: `message` is what a caller reads when the expression is not
    true, `pointer` the argument that it is about. Raises Denied; InvalidRequest also for arguments that the
    tool's version in use does not take.
    """
    actor = acting(by, "registry.change_tool", on=[tool])
    rule = rule_check(expression, message, pointer)
    _arguments_check(tool, rule)
    with transaction.atomic():
        row = Tool.objects.select_for_update(of=("self",)).get(pk=tool.pk)
        if len(row.rules) >= RULES_MAX:
            raise _wrong("expression", f"{row.name} has {RULES_MAX} rules; join some of them with &&.")
        made = {
            "id": max((one["id"] for one in row.rules), default=0) + 1,
            **rule,
            "by": person_behind(by).get_username(),
            "at": timezone.now().isoformat(timespec="seconds"),
        }
        row.rules = [*row.rules, made]
        row.save(update_fields=["rules"])
        record(Entry(TOOL_RULE_ADDED, actor, "tool", row.name, {"rule": made["id"], **rule}))
    return made


@safeguarded("tool.rule_remove")
def rule_remove(*, by: By, tool: Tool, rule_id: int) -> None:
    """Takes an added rule away, from the tool's next call on. Raises Denied, NotFound."""
    actor = acting(by, "registry.change_tool", on=[tool])
    with transaction.atomic():
        row = Tool.objects.select_for_update(of=("self",)).select_related("package").get(pk=tool.pk)
        gone = rule_named(row, rule_id)
        left = [one for one in row.rules if one["id"] != rule_id]
        before, after = {"rules": _ids(row.rules)}, {"rules": _ids(left)}
        said = safeguard_change(by, "tool", ("tool", row.name), before, after, row)
        row.rules = left
        row.save(update_fields=["rules"])
        data = {"rule": rule_id, "expression": gone["expression"], "message": gone["message"], **said}
        record(Entry(TOOL_RULE_REMOVED, actor, "tool", row.name, data))


def _ids(rules: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rules as security/safeguards.py compares them."""
    return [f"rule {one['id']}" for one in rules]


def rule_named(tool: Tool, rule_id: int) -> Mapping[str, Any]:
    """An added rule of a tool. Raises NotFound."""
    for one in tool.rules:
        if one["id"] == rule_id:
            found: Mapping[str, Any] = one
            return found
    raise NotFound(f"{tool.name} has no rule {rule_id}.")


def rule_check(expression: str, message: str, pointer: str = "") -> dict[str, str]:
    """The rule in its one form. Raises InvalidRequest that points to what is wrong, in an expression too."""
    expression, message, pointer = expression.strip(), message.strip(), pointer.strip()
    try:
        cel_check(expression)
    except InvalidRequest as error:
        raise _wrong("expression", error.message) from error
    for name in sorted(cel_names(expression) - set(NAMES)):
        raise _wrong(
            "expression", f"It names {name[:80]!r}, which is not there; there are {', '.join(NAMES)}."
        )
    if not 1 <= len(message) <= MESSAGE_MAX or "\0" in message:
        raise _wrong("message", f"Say in 1 to {MESSAGE_MAX} characters what a caller is to do.")
    if pointer and (not pointer_is(pointer) or len(pointer) > POINTER_MAX):
        raise _wrong("pointer", f"Name an argument by a JSON Pointer such as /amount ({POINTER}).")
    return {"expression": expression, "message": message, "pointer": pointer}


def _arguments_check(tool: Tool, rule: Mapping[str, str]) -> None:
    """Raises InvalidRequest for a rule that names an argument which no call of the tool has."""
    version = tool.active
    if version is None or version.is_dynamic:
        return
    schema = version.definition.get("inputSchema", {})
    for field, part in (("expression", {**rule, "pointer": ""}), ("pointer", {**rule, "expression": ""})):
        if unknown := unknown_argument(part, schema):
            raise _wrong(field, unknown)


def _wrong(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])
