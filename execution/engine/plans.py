"""Writes the plans of a step in one transaction."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from django.db import transaction

from execution.engine.features import Act, Conflict, Held, LockKind, Plan
from execution.models import Run

# A step is planned anew so many times, because others changed what its plans rest on.
TRIES = 100
Done = TypeVar("Done")


def plans_write(plans: Sequence[Plan], run: Run, write: Callable[[], Done]) -> Done | Conflict:
    """Carry plans out around the write of a step itself, all in one transaction or none of it.

    Without plans `write` gets no transaction of its own. Where it gives False, nothing stands.
    """
    if not plans:
        return write()
    with transaction.atomic():
        held = locks_take(plans)
        done: Done | Conflict = acts_do(plans, run, held) or write()
        if done is not False and not isinstance(done, Conflict):
            done = after_do(plans, run, held) or done
        if done is False or isinstance(done, Conflict):
            transaction.set_rollback(True)
    return done


def locks_take(plans: Sequence[Plan]) -> Held:
    """Lock all that plans name, in one order everywhere; in the caller's transaction."""
    keys: dict[LockKind, set[Any]] = {}
    for plan in plans:
        for kind, wanted in plan.locks.items():
            keys.setdefault(kind, set()).update(wanted)
    return {kind: kind.take(sorted(keys[kind])) for kind in sorted(keys, key=lambda kind: kind.rank)}


def acts_do(plans: Sequence[Plan], run: Run, held: Held) -> Conflict | None:
    """Ask the plans' guards, then carry out their acts; the first Conflict ends it."""
    for act in (
        *(act for plan in plans for act in plan.guards),
        *(act for plan in plans for act in plan.acts),
    ):
        if conflict := act(run, held):
            return conflict
    return None


def after_do(plans: Sequence[Plan], run: Run, held: Held) -> Conflict | None:
    """Carry out what comes after the step itself is written."""
    return _do([act for plan in plans for act in plan.after], run, held)


def _do(acts: Iterable[Act], run: Run, held: Held) -> Conflict | None:
    return next(filter(None, (act(run, held) for act in acts)), None)


def planned(act: Callable[[Sequence[Conflict]], Done | Conflict]) -> Done | Conflict:
    """Do what is planned with the conflicts so far, again until there is none or one is stale."""
    conflicts: list[Conflict] = []
    while True:
        done = act(conflicts)
        if not isinstance(done, Conflict) or done.is_stale or len(conflicts) >= TRIES:
            return done
        conflicts.append(done)
