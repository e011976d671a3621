"""Conditions on a grant: what a call's arguments have to be for the capability to count. All must hold.

A condition is JSON: `{kind, argument, values}` with a JSON Pointer (RFC 6901) into the arguments, or
`{kind: "cel", expression}` over `arguments`. Kinds: `path` (lies within one of the folders), `host` (is one
of the hosts, or below `*.example.org`), `equals` (is one of the texts), `matches` (is one of the texts, in
which `*` stands for any). `{kind: "approval"}` says nothing of
the arguments: a person approves each call that stands on the grant. `{kind: "session", values: [ID]}` is for
approvals in advance alone: they count for calls in that session of the persona's.
"""

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

from core.cel import ConditionFailed, cel_check, cel_holds
from core.errors import InvalidRequest
from core.http.errors import HttpRefused
from core.http.urls import url_read
from core.json.pointer import POINTER, pointer_get, pointer_is
from toolhub_sdk.visible_text import text_seen

KINDS = ("path", "host", "equals", "matches")
APPROVAL = "approval"
SESSION = "session"
SESSION_MAX = 128
CONDITIONS_MAX = 10
VALUES_MAX = 50
VALUE_MAX = 500
Condition = Mapping[str, Any]


def conditions_check(conditions: Any) -> list[dict[str, Any]]:
    """The conditions of a grant, in their one form. Raises InvalidRequest with pointers."""
    if not isinstance(conditions, list) or len(conditions) > CONDITIONS_MAX:
        raise _wrong("", f"Conditions are a list of at most {CONDITIONS_MAX}.")
    return [_checked(f"/{number}", one) for number, one in enumerate(conditions)]


def condition_words(condition: Condition) -> str:
    """The condition as a person reads it."""
    if condition["kind"] == APPROVAL:
        return "a person approves the call"
    if condition["kind"] == "cel":
        return str(condition["expression"])
    if condition["kind"] == SESSION:
        return f"the call is in the session {text_seen(', '.join(condition['values']))}"
    values = ", ".join(condition["values"])
    return f"{condition['argument']} {_VERBS[condition['kind']]} {values}"


def unmet(conditions: Sequence[Condition], arguments: Mapping[str, Any]) -> Condition | None:
    """The first condition that the arguments do not meet; one that cannot be told is not met."""
    return next((one for one in conditions if not _holds(one, arguments)), None)


def narrower(conditions: Sequence[Condition], than: Sequence[Condition]) -> bool:
    """Whether a call that meets `conditions` meets the conditions `than`, too, as far as their texts show.

    Each of `than` has to be there, perhaps with fewer values: a folder within the folder, some of the hosts.
    """
    return all(any(_implies(one, other) for one in conditions) for other in than)


def _implies(one: Condition, other: Condition) -> bool:
    if one == other:
        return True
    if one["kind"] != other["kind"] or one["kind"] not in KINDS or one["argument"] != other["argument"]:
        return False
    if one["kind"] == "path":
        return all(_within(folder, other["values"]) for folder in one["values"])
    return set(one["values"]) <= set(other["values"])


def _holds(condition: Condition, arguments: Mapping[str, Any]) -> bool:
    if condition["kind"] == APPROVAL:
        return True
    if condition["kind"] == SESSION:  # arguments do not say; who knows the session asks `session_of`
        return False
    if condition["kind"] == "cel":
        try:
            return cel_holds(condition["expression"], {"arguments": arguments})
        except ConditionFailed:
            return False
    try:
        value = pointer_get(arguments, condition["argument"])
    except LookupError:
        return False
    if not isinstance(value, str):
        return False
    return _TESTS[condition["kind"]](value, condition["values"])


def _within(value: str, folders: Sequence[str]) -> bool:
    """By the path's parts, after `.` and `..` are resolved; a relative path lies nowhere."""
    if not value.startswith("/") or "\0" in value:
        return False
    path = posixpath.normpath(value).lstrip("/").split("/")
    for folder in folders:
        parts = [part for part in posixpath.normpath(folder).split("/") if part]
        if path[: len(parts)] == parts:
            return True
    return False


def _at_host(value: str, hosts: Sequence[str]) -> bool:
    """The host of an address, or the text itself where it is a host's name."""
    try:
        host = url_read(value if "//" in value else f"https://{value}").host
    except HttpRefused:
        return False
    return any(host == one or (one.startswith("*.") and host.endswith(one[1:])) for one in hosts)


def _is_one_of(value: str, values: Sequence[str]) -> bool:
    return value in values


def _matches(value: str, patterns: Sequence[str]) -> bool:
    return any(_fits(value, pattern.split("*")) for pattern in patterns)


def _fits(value: str, parts: Sequence[str]) -> bool:
    """Whether the parts stand in the text in their order, the first at its start, the last at its end.

    One pass: each part is taken where it comes first, so that nothing is tried twice.
    """
    first, *inner = parts
    if not inner:
        return value == first
    last = inner.pop()
    if not value.startswith(first) or not value.endswith(last) or len(value) < len(first) + len(last):
        return False
    at, end = len(first), len(value) - len(last)
    for part in inner:
        at = value.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


_TESTS = {"path": _within, "host": _at_host, "equals": _is_one_of, "matches": _matches}
_VERBS = {"path": "lies within", "host": "is at", "equals": "is", "matches": "matches"}


def _checked(place: str, one: Any) -> dict[str, Any]:
    known = (*KINDS, "cel", APPROVAL, SESSION)
    if not isinstance(one, Mapping) or one.get("kind") not in known:
        raise _wrong(place, f"A condition's kind is one of {', '.join(known)}.")
    if one["kind"] == APPROVAL:
        if set(one) != {"kind"}:
            raise _wrong(place, "A condition that asks for approval has a kind only.")
        return {"kind": APPROVAL}
    if one["kind"] == "cel":
        return _cel(place, one)
    if one["kind"] == SESSION:
        return _session(place, one)
    if set(one) != {"kind", "argument", "values"}:
        raise _wrong(place, "A condition has kind, argument and values.")
    argument, values = one["argument"], one["values"]
    if not isinstance(argument, str) or not pointer_is(argument) or not 1 <= len(argument) <= VALUE_MAX:
        raise _wrong(f"{place}/argument", f"Name an argument by a JSON Pointer such as /path ({POINTER}).")
    well = isinstance(values, list) and 1 <= len(values) <= VALUES_MAX
    if not well or not all(isinstance(value, str) and 1 <= len(value) <= VALUE_MAX for value in values):
        raise _wrong(f"{place}/values", f"Give 1 to {VALUES_MAX} texts.")
    for number, value in enumerate(values):
        _value_check(f"{place}/values/{number}", one["kind"], value)
    return {"kind": one["kind"], "argument": argument, "values": list(values)}


def session_of(conditions: Sequence[Condition]) -> str:
    """The session that the conditions name; empty where none does."""
    return next((str(one["values"][0]) for one in conditions if one["kind"] == SESSION), "")


def _session(place: str, one: Mapping[str, Any]) -> dict[str, Any]:
    values = one.get("values")
    if set(one) != {"kind", "values"} or not isinstance(values, list) or len(values) != 1:
        raise _wrong(place, "A condition on the session has kind and values, with one session.")
    if not isinstance(values[0], str) or not 1 <= len(values[0]) <= SESSION_MAX or "\0" in values[0]:
        raise _wrong(f"{place}/values/0", f"Name a session in at most {SESSION_MAX} characters.")
    return {"kind": SESSION, "values": [values[0]]}


def _cel(place: str, one: Mapping[str, Any]) -> dict[str, Any]:
    if set(one) != {"kind", "expression"} or not isinstance(one["expression"], str):
        raise _wrong(place, "A condition in CEL has kind and expression.")
    try:
        cel_check(one["expression"])
    except InvalidRequest as error:
        raise _wrong(f"{place}/expression", error.message) from error
    return {"kind": "cel", "expression": one["expression"]}


def _value_check(place: str, kind: str, value: str) -> None:
    folder = value.rstrip("/") or "/"
    if kind == "path" and (not value.startswith("/") or posixpath.normpath(value) != folder):
        raise _wrong(place, "A folder is an absolute path without `.` and `..`.")
    if kind == "host":
        try:
            known = url_read(f"https://{value.removeprefix('*.')}").host == value.removeprefix("*.")
        except HttpRefused:
            known = False
        if not known:
            raise _wrong(place, "A host is a name such as example.org or *.example.org, in small letters.")


def _wrong(place: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/conditions{place}", "message": message}])
