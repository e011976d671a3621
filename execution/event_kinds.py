"""The kinds of ledger events that calls, runs and what belongs to them write."""

from audit.kinds import Family, event_kind

CALLS = Family("calls", "Calls and runs")
APPROVALS = Family("approvals", "Approvals of calls")
DELIVERIES = Family("deliveries", "Callbacks and webhooks")
MEMORY = Family("memory", "Sessions and memory")
SCHEDULES = Family("schedules", "Schedules")
RESOURCES = Family("resources", "Resources")

RUN_ACCEPTED = event_kind(CALLS, "run.accepted", "tool", "Called {tool} {version}")
RUN_OUTCOME = event_kind(
    CALLS, "run.outcome", "tool", "Recorded the outcome of {tool} {version}: {status}[, {error_code}]"
)
RUN_REFUSED = event_kind(CALLS, "run.refused", "tool", "Was refused the call, with {code}")
RUN_TRIED = event_kind(CALLS, "run.tried", "tool", "Tried the tool as the persona {persona}")
RUN_RETRIED = event_kind(CALLS, "run.retried", "tool", "Retried the run as run {new_run}")
RUN_REPLAYED = event_kind(CALLS, "run.replayed", "tool", "Replayed the run as run {new_run}")
RUN_CANCEL_ASKED = event_kind(CALLS, "run.cancel_asked", "tool", "Asked to cancel the run")
RUNS_CANCEL_ASKED = event_kind(CALLS, "runs.cancel_asked", "hub", "Asked to cancel {asked} runs at once")
RUN_RESOLVED = event_kind(CALLS, "run.resolved", "tool", "Resolved the run as {as}: {reason}")
RUN_ESCALATED = event_kind(CALLS, "run.escalated", "tool", "Escalated the run to {to}")
RUN_CLEANED_UP = event_kind(CALLS, "run.cleaned_up", "tool", "Removed the run's files")
RUN_PAYLOADS_EXPIRED = event_kind(
    CALLS,
    "run.payloads_expired",
    "hub",
    "Removed the payloads of {runs} runs that ended before {ended_before:time}",
)

APPROVAL_ASKED = event_kind(
    APPROVALS, "approval.asked", "tool", "Requested approval of a call until {expires_at:time}: {why}"
)
APPROVAL_APPROVED = event_kind(
    APPROVALS,
    "approval.approved",
    "tool",
    "Approved the call[, and equal calls for {hours} h][ in the session {session}][: {reason}]",
)
APPROVAL_DENIED = event_kind(APPROVALS, "approval.denied", "tool", "Denied the call: {reason}")
APPROVAL_DELEGATED = event_kind(APPROVALS, "approval.delegated", "tool", "Delegated the decision to {to}")
APPROVAL_EXPIRED = event_kind(
    APPROVALS, "approval.expired", "tool", "Cancelled the call because nobody decided in time"
)
APPROVAL_WITHDRAWN = event_kind(
    APPROVALS, "approval.withdrawn", "tool", "Withdrew the request for approval by cancelling the run"
)

CALLBACK_DELIVERED = event_kind(
    DELIVERIES, "callback.delivered", "tool", "Delivered the callback to {to} on attempt {attempt}"
)
CALLBACK_FAILED = event_kind(
    DELIVERIES,
    "callback.failed",
    "tool",
    "Gave up on the callback to {to} after {attempt} attempts[: {error}]",
)
CALLBACK_REDELIVERED = event_kind(DELIVERIES, "callback.redelivered", "tool", "Sent the callback again")
WEBHOOK_ADDED = event_kind(
    DELIVERIES, "webhook.added", "persona", "Added a webhook to {to} for the events {events}"
)
WEBHOOK_REMOVED = event_kind(DELIVERIES, "webhook.removed", "persona", "Removed the webhook to {to}")
WEBHOOK_DELIVERED = event_kind(
    DELIVERIES, "webhook.delivered", "persona", "Delivered a webhook to {to} on attempt {attempt}"
)
WEBHOOK_FAILED = event_kind(
    DELIVERIES,
    "webhook.failed",
    "persona",
    "Gave up on a webhook to {to} after {attempt} attempts[: {error}]",
)

MEMORY_WRITTEN = event_kind(
    MEMORY, "memory.written", "persona", "Wrote {key} to the {scope} memory of the session {session}"
)
MEMORY_DELETED = event_kind(
    MEMORY, "memory.deleted", "persona", "Deleted {key} from the {scope} memory of the session {session}"
)
LOOP_ENDED = event_kind(MEMORY, "loop.ended", "persona", "Ended the loop {loop} of the session {session}")
SESSION_ENDED = event_kind(MEMORY, "session.ended", "persona", "Ended the session {session}")

SCHEDULE_CREATED = event_kind(
    SCHEDULES,
    "schedule.created",
    "schedule",
    "Created the schedule {name}: {tool} as {persona} at {cron}, {time_zone}",
)
SCHEDULE_SWITCHED_ON = event_kind(
    SCHEDULES, "schedule.switched_on", "schedule", "Enabled the schedule {name} of {tool}"
)
SCHEDULE_SWITCHED_OFF = event_kind(
    SCHEDULES, "schedule.switched_off", "schedule", "Disabled the schedule {name} of {tool}"
)
SCHEDULE_HANDED_OVER = event_kind(
    SCHEDULES, "schedule.handed_over", "schedule", "Handed the schedule {name} of {tool} over to {to}"
)
SCHEDULE_DELETED = event_kind(
    SCHEDULES, "schedule.deleted", "schedule", "Deleted the schedule {name} of {tool}"
)
SCHEDULE_FIRED = event_kind(
    SCHEDULES, "schedule.fired", "schedule", "Started the run of {name} that was due at {due:time}"
)

RESOURCE_ADDED = event_kind(RESOURCES, "resource.added", "hub", "Added the resource {name}[ at {url}]")
RESOURCE_SWITCHED = event_kind(
    RESOURCES, "resource.switched", "hub", "Marked the resource {name} as {up:up|down}[: {reason}]"
)
RESOURCE_REMOVED = event_kind(RESOURCES, "resource.removed", "hub", "Removed the resource {name}")
