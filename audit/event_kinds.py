"""The kinds of events that the ledger writes itself, and what every app's events can be about."""

from audit.kinds import Family, Subject, event_kind

CALLS = Family("calls", "Calls and runs")

# The hub as a whole: a setting of it, or many things at once.
HUB = Subject("hub")
TOOL = Subject("tool")

RUN_REFUSED_REPEATED = event_kind(
    CALLS,
    "run.refused.repeated",
    TOOL,
    "More calls of {about|an unknown tool} by {persona} were refused with {code} within a minute: {count}",
)
