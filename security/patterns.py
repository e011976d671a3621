"""Patterns of what must not stand in a tool's output, added by admins; matched in linear time (RE2)."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError, IntegrityError, transaction

from audit.ledger import Entry, record
from core.errors import Conflict, InvalidRequest
from security.acting import PERSONAS, By, acting, person_behind
from security.event_kinds import OUTPUT_PATTERN_ADDED, OUTPUT_PATTERN_REMOVED
from security.loosening import safeguard_change, safeguarded
from security.models import OutputPattern

if TYPE_CHECKING:
    from security.redaction import Searching

NAME_MAX, LENGTH_MAX, COUNT_MAX = 80, 200, 50
# Of one compiled pattern.
BYTES_MAX = 1_048_576
# So long may a process go on without hearing of a new pattern, in seconds.
HEARD_EVERY_S = 5.0


class _Kept:
    """The compiled patterns of this process, and when they were read."""

    patterns: tuple["Searching", ...] | None = None
    read_at = 0.0


def pattern_add(*, by: By, name: str, pattern: str) -> OutputPattern:
    """Adds a pattern; in every process within five seconds. Raises Denied, InvalidRequest, Conflict."""
    actor = acting(by, "security.add_outputpattern", PERSONAS)
    name = " ".join(name.split())
    if not 1 <= len(name) <= NAME_MAX:
        raise _wrong("name", f"Name it, in at most {NAME_MAX} characters.")
    compiled = pattern_compile(pattern)
    if compiled.search("") is not None:
        raise _wrong("pattern", "It matches an empty text, so it would match everywhere.")
    try:
        with transaction.atomic():
            if OutputPattern.objects.count() >= COUNT_MAX:
                raise _wrong("pattern", f"There are {COUNT_MAX} patterns; join some of them.")
            row = OutputPattern.objects.create(name=name, pattern=pattern, created_by=person_behind(by))
            data = {"name": name, "pattern": pattern}
            record(Entry(OUTPUT_PATTERN_ADDED, actor, "hub", "output_patterns", data))
            transaction.on_commit(patterns_forget)
    except IntegrityError as error:
        message = f"There is a pattern {name} already."
        raise Conflict(message, errors=[{"pointer": "/name", "message": message}]) from error
    return row


@safeguarded("output_pattern.remove")
def pattern_remove(*, by: By, row: OutputPattern) -> None:
    """Takes a pattern away. Raises Denied."""
    actor = acting(by, "security.delete_outputpattern", PERSONAS)
    with transaction.atomic():
        before = {"name": row.name, "pattern": row.pattern}
        rule = safeguard_change(by, "output_pattern", ("hub", "output_patterns"), before, None)
        if OutputPattern.objects.filter(pk=row.pk).delete()[0]:
            data = {**before, **rule}
            record(Entry(OUTPUT_PATTERN_REMOVED, actor, "hub", "output_patterns", data))
            transaction.on_commit(patterns_forget)


def pattern_compile(text: str) -> Any:
    """The pattern in RE2's syntax. Raises InvalidRequest at `/pattern`."""
    import re2  # noqa: PLC0415 - 3 MB, only where there are patterns

    if not 1 <= len(text) <= LENGTH_MAX:
        raise _wrong("pattern", f"A pattern has 1 to {LENGTH_MAX} characters.")
    options = re2.Options()
    options.max_mem, options.log_errors = BYTES_MAX, False
    try:
        return re2.compile(text, options=options)
    except (re2.error, UnicodeEncodeError) as error:
        message = "It is no regular expression that runs in linear time: no look-around, no back-references."
        raise _wrong("pattern", message) from error


def patterns_now() -> Sequence["Searching"]:
    """The patterns that count, read every five seconds; those of before while the database is away."""
    now = time.monotonic()
    if _Kept.patterns is None or now - _Kept.read_at > HEARD_EVERY_S:
        try:
            texts = OutputPattern.objects.order_by("pk").values_list("pattern", flat=True)
            _Kept.patterns = tuple(pattern_compile(text) for text in texts)
            _Kept.read_at = now
        except DatabaseError:
            if _Kept.patterns is None:
                raise
    return _Kept.patterns


def patterns_forget() -> None:
    """Has this process read them anew at the next call."""
    _Kept.patterns = None


def _wrong(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])
