"""The order of a chain's calls: as given, or by what they depend on."""

from collections.abc import Sequence

from core.errors import InvalidRequest
from execution.entry.operations.requests import ToolCall
from registry.schemas import pointer

Errors = list[dict[str, str]]


def calls_ordered(calls: Sequence[ToolCall], order: str) -> list[ToolCall]:
    """The calls in the order in which they run.

    `auto` is topological and stable: of those that are ready the one that was given first comes first.
    Raises InvalidRequest with pointers for ids that are not unique or unknown, for a cycle, and for a
    call that, in the `given` order, needs a later one.
    """
    errors = _id_errors(calls) or _need_errors(calls)
    if errors:
        raise InvalidRequest(errors[0]["message"], errors=errors)
    return _sorted(calls) if order == "auto" else _as_given(calls)


def _id_errors(calls: Sequence[ToolCall]) -> Errors:
    seen: set[str] = set()
    errors = []
    for call in calls:
        if call.id in seen:
            errors.append(_error(f"{call.place}/id", f"The id {call.id!r} is taken by an earlier call."))
        seen.add(call.id)
    return errors


def _need_errors(calls: Sequence[ToolCall]) -> Errors:
    ids = {call.id for call in calls}
    errors = []
    for call in calls:
        for number, needed in enumerate(call.depends_on):
            if needed not in ids:
                at = f"{call.place}/dependsOn/{number}"
                errors.append(_error(at, f"There is no call with the id {needed!r}."))
        for name, source in call.mapping.items():
            at = f"{call.place}/mapping{pointer([name])}"
            if source.id not in ids:
                errors.append(_error(f"{at}/from", f"There is no call with the id {source.id!r}."))
            if name in call.request.arguments:
                errors.append(_error(at, f"{name!r} stands in arguments too."))
    return errors


def _as_given(calls: Sequence[ToolCall]) -> list[ToolCall]:
    position = {call.id: call.index for call in calls}
    late = [call for call in calls if any(position[needed] >= call.index for needed in call.needs)]
    if late:
        message = "A call needs one that does not come before it; `order: auto` would sort them."
        raise InvalidRequest(message, errors=[_error(call.place, message) for call in late])
    return list(calls)


def _sorted(calls: Sequence[ToolCall]) -> list[ToolCall]:
    done: dict[str, ToolCall] = {}
    while len(done) < len(calls):
        ready = next((c for c in calls if c.id not in done and all(n in done for n in c.needs)), None)
        if ready is None:
            raise _cycle([call for call in calls if call.id not in done])
        done[ready.id] = ready
    return list(done.values())


def _cycle(rest: list[ToolCall]) -> InvalidRequest:
    """The error for calls that wait for each other; those that only wait for them are left out."""
    while True:
        needed = {name for call in rest for name in call.needs}
        inner = [call for call in rest if call.id in needed]
        if len(inner) == len(rest):
            break
        rest = inner
    message = f"The calls {', '.join(call.id for call in rest)} depend on each other in a circle."
    return InvalidRequest(message, errors=[_error(call.place, message) for call in rest])


def _error(at: str, message: str) -> dict[str, str]:
    return {"pointer": at, "message": message}
