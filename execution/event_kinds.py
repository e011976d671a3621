"""The kinds of ledger events that calls, runs and what belongs to them write."""

from audit.event_kinds import CALLS, HUB, TOOL
from audit.kinds import Family, Subject, event_kind
from security.event_kinds import PERSONA

APPROVALS = Family("approvals", "Approvals of calls")
DELIVERIES = Family("deliveries", "Callbacks and webhooks")
MEMORY = Family("memory", "Sessions and memory")
SCHEDULES = Family("schedules", "Schedules")
RESOURCES = Family("resources", "Resources")

SCHEDULE = Subject("schedule", ("name",))

RUN_ACCEPTED = event_kind(CALLS, "run.accepted", TOOL, "Called {tool} {version}")
RUN_OUTCOME = event_kind(
    CALLS, "run.outcome", TOOL, "The run of {tool} {version} ended as {status}[, with {error_code}]"
)
RUN_REFUSED = event_kind(
    CALLS, "run.refused", TOOL, "The call of {about|an unknown tool} was refused with {code}"
)
RUN_TRIED = event_kind(CALLS, "run.tried", TOOL, "Tried {about} as the persona {persona}")
RUN_RETRIED = event_kind(CALLS, "run.retried", TOOL, "Retried a run of {about}; the new run is {new_run}")
RUN_REPLAYED = event_kind(CALLS, "run.replayed", TOOL, "Replayed a run of {about}; the new run is {new_run}")
RUN_CANCEL_ASKED = event_kind(CALLS, "run.cancel_asked", TOOL, "Asked to cancel the run of {about}")
RUNS_CANCEL_ASKED = event_kind(CALLS, "runs.cancel_asked", HUB, "Asked to cancel {asked} runs at once")
RUN_RESOLVED = event_kind(CALLS, "run.resolved", TOOL, "Resolved the run of {about} as {as}: {reason}")
RUN_ESCALATED = event_kind(CALLS, "run.escalated", TOOL, "Escalated the run of {about} to {to}")
RUN_CLEANED_UP = event_kind(CALLS, "run.cleaned_up", TOOL, "Removed the files that the run of {about} left")
RUN_PAYLOADS_EXPIRED = event_kind(
    CALLS,
    "run.payloads_expired",
    HUB,
    "Removed the payloads of {runs} runs that ended before {ended_before:time}",
)

APPROVAL_ASKED = event_kind(
    APPROVALS,
    "approval.asked",
    TOOL,
    "Requested approval for a call of {about} until {expires_at:time}: {why}",
)
APPROVAL_APPROVED = event_kind(
    APPROVALS,
    "approval.approved",
    TOOL,
    "Approved the call of {about}[, and equal calls for {hours} h][ in the session {session}][: {reason}]",
)
APPROVAL_DENIED = event_kind(APPROVALS, "approval.denied", TOOL, "Denied the call of {about}: {reason}")
APPROVAL_DELEGATED = event_kind(
    APPROVALS, "approval.delegated", TOOL, "Delegated the decision on a call of {about} to {to}"
)
APPROVAL_EXPIRED = event_kind(
    APPROVALS, "approval.expired", TOOL, "Cancelled the call of {about} because nobody decided in time"
)
APPROVAL_WITHDRAWN = event_kind(
    APPROVALS,
    "approval.withdrawn",
    TOOL,
    "Withdrew the request for approval of {about} by cancelling the run",
)

CALLBACK_DELIVERED = event_kind(
    DELIVERIES, "callback.delivered", TOOL, "Delivered the callback to {to} on attempt {attempt}"
)
CALLBACK_FAILED = event_kind(
    DELIVERIES,
    "callback.failed",
    TOOL,
    "Gave up on the callback to {to} after attempt {attempt}[: {error}]",
)
CALLBACK_REDELIVERED = event_kind(
    DELIVERIES, "callback.redelivered", TOOL, "Sent the callback of a run of {about} again"
)
WEBHOOK_ADDED = event_kind(
    DELIVERIES, "webhook.added", PERSONA, "Added a webhook to {to} for the events {events}"
)
WEBHOOK_REMOVED = event_kind(DELIVERIES, "webhook.removed", PERSONA, "Removed the webhook to {to}")
WEBHOOK_DELIVERED = event_kind(
    DELIVERIES, "webhook.delivered", PERSONA, "Delivered a webhook to {to} on attempt {attempt}"
)
WEBHOOK_FAILED = event_kind(
    DELIVERIES,
    "webhook.failed",
    PERSONA,
    "Gave up on a webhook to {to} after attempt {attempt}[: {error}]",
)

MEMORY_WRITTEN = event_kind(
    MEMORY, "memory.written", PERSONA, "Wrote {key} to the {scope} memory of the session {session}"
)
MEMORY_DELETED = event_kind(
    MEMORY, "memory.deleted", PERSONA, "Deleted {key} from the {scope} memory of the session {session}"
)
LOOP_ENDED = event_kind(MEMORY, "loop.ended", PERSONA, "Ended the loop {loop} of the session {session}")
SESSION_ENDED = event_kind(MEMORY, "session.ended", PERSONA, "Ended the session {session}")

SCHEDULE_CREATED = event_kind(
    SCHEDULES,
    "schedule.created",
    SCHEDULE,
    "Created the schedule {name}: {tool} as {persona} at {cron}, {time_zone}",
)
SCHEDULE_SWITCHED_ON = event_kind(
    SCHEDULES, "schedule.switched_on", SCHEDULE, "Enabled the schedule {name} of {tool}"
)
SCHEDULE_SWITCHED_OFF = event_kind(
    SCHEDULES, "schedule.switched_off", SCHEDULE, "Disabled the schedule {name} of {tool}"
)
SCHEDULE_HANDED_OVER = event_kind(
    SCHEDULES, "schedule.handed_over", SCHEDULE, "Handed the schedule {name} of {tool} over to {to}"
)
SCHEDULE_DELETED = event_kind(
    SCHEDULES, "schedule.deleted", SCHEDULE, "Deleted the schedule {name} of {tool}"
)
SCHEDULE_FIRED = event_kind(
    SCHEDULES, "schedule.fired", SCHEDULE, "Started the run of {name} that was due at {due:time}"
)

RESOURCE_ADDED = event_kind(RESOURCES, "resource.added", HUB, "Added the resource {name}[ at {url}]")
RESOURCE_SWITCHED = event_kind(
    RESOURCES, "resource.switched", HUB, "Marked the resource {name} as {up?up:down}[: {reason}]"
)
RESOURCE_REMOVED = event_kind(RESOURCES, "resource.removed", HUB, "Removed the resource {name}")
