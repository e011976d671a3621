"""The person behind a run without a token: a run that waits begins only while they may have it made."""

from execution.models import Run
from registry.selectors import tools_named
from security.models import User
from security.sharing.reach import may

# By each of these a person has calls made: Try it and doing it again, schedules, resolving.
_WAYS = ("execution.add_run", "execution.add_schedule", "execution.resolve_run")


def person_lost(run: Run) -> str:
    """Who may not have the run made any more; empty where they may, or where a token answers for it.

    What follows from a run is asked about as that: a person needs no right on what its contract calls.
    """
    if run.token_id is not None or run.responsible_id is None:
        return ""
    person = User.objects.get(pk=run.responsible_id)
    first = run if run.root is None else Run.objects.get(pk=run.root)
    on = first.persona, *tools_named(first.tool)
    return "" if any(may(person, way, *on) for way in _WAYS) else person.get_username()
