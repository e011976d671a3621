"""What needs a person first: counted on the Overview, each with the list that shows it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from core.counts import counts_read
from execution.engine.selectors import runs_seen
from execution.entry.schedules.selectors import schedules_seen
from execution.features.approvals.selectors import approvals_decidable
from execution.models import Status
from execution.runs.resolve import RESOLVE
from monitoring.duties import rows_parked
from registry.installations.four_eyes import eyes_of
from registry.installations.models import Status as InstallationStatus
from registry.installations.selectors import installations_page
from registry.personas.selectors import tokens_ending
from security.models import Persona, User
from security.policy.models import ProposedChange
from security.proposals import proposals_waiting
from security.sharing.reach import within

SOON = timedelta(days=7)
# Further are not counted: "more than" says enough.
MOST = 1000


@dataclass(frozen=True)
class Watch:
    """Something that needs a person; `one` and `many` say it after a number, `permission` who is shown it.

    `of` reads the rows that this person can act on, and no others; without a `permission` everybody is asked.
    """

    one: str
    many: str
    permission: str
    of: Callable[[User], QuerySet[Any]]
    url_name: str
    query: str
    icon: str
    tone: str


@dataclass(frozen=True)
class Notice:
    """What a watch found."""

    watch: Watch
    count: int

    @property
    def words(self) -> str:
        number = f"more than {MOST}" if self.count > MOST else str(self.count)
        return f"{number} {self.watch.one if self.count == 1 else self.watch.many}"

    @property
    def url(self) -> str:
        return f"{reverse(self.watch.url_name)}{self.watch.query}"


def _unknown(person: User) -> QuerySet[Any]:
    return runs_seen(person, RESOLVE).filter(status=Status.OUTCOME_UNKNOWN)


def _left_to_a_person(person: User) -> QuerySet[Any]:
    return runs_seen(person, RESOLVE).filter(status=Status.AWAITING_PERSON)


def _proposals(person: User) -> QuerySet[Any]:
    return ProposedChange.objects.filter(pk__in=[row.pk for row in proposals_waiting(person)])


def _reviews(person: User) -> QuerySet[Any]:
    waiting = {"status": InstallationStatus.AWAITING_REVIEW.value}
    rows = installations_page(waiting, person)
    own = [row.pk for row in rows.filter(person=person) if eyes_of(person, row).rule == "refused"]
    return rows.exclude(pk__in=own)


def _failed_installations(person: User) -> QuerySet[Any]:
    recent = installations_page({"status": InstallationStatus.FAILED.value}, person)
    return recent.filter(created_at__gte=timezone.now() - SOON)


def _schedules(person: User) -> QuerySet[Any]:
    return schedules_seen(person).filter(enabled=True).exclude(last_error="")


def _rows_parked(_person: User) -> QuerySet[Any]:
    return rows_parked()


def _personas_of_tokens(person: User) -> QuerySet[Any]:
    ending = tokens_ending(timezone.now()).values("persona")
    return within(person, Persona.objects.filter(pk__in=ending), "security.view_persona")


WATCHES = (
    Watch(
        "run whose outcome nobody knows",
        "runs whose outcome nobody knows",
        RESOLVE,
        _unknown,
        "runs",
        "?status=outcome_unknown",
        "alert-triangle",
        "warn",
    ),
    Watch(
        "failed run waits for a person",
        "failed runs wait for a person",
        RESOLVE,
        _left_to_a_person,
        "runs",
        "?status=awaiting_person",
        "user",
        "warn",
    ),
    Watch(
        "call waits for your approval",
        "calls wait for your approval",
        "",
        approvals_decidable,
        "approvals",
        "",
        "user",
        "busy",
    ),
    Watch(
        "proposed change waits for you",
        "proposed changes wait for you",
        "",
        _proposals,
        "proposals",
        "",
        "users",
        "busy",
    ),
    Watch(
        "installation waits for a review",
        "installations wait for a review",
        "registry.add_release",
        _reviews,
        "installations",
        "?status=awaiting_review",
        "package",
        "busy",
    ),
    Watch(
        "installation failed in the last 7 days",
        "installations failed in the last 7 days",
        "registry.add_release",
        _failed_installations,
        "installations",
        "?status=failed&since=168",
        "circle-x",
        "bad",
    ),
    Watch(
        "schedule could not make its last call",
        "schedules could not make their last calls",
        "execution.view_schedule",
        _schedules,
        "schedules",
        "?state=refused",
        "clock",
        "bad",
    ),
    Watch(
        "row fails in a duty of the steward",
        "rows fail in duties of the steward",
        "duties.view_failedrow",
        _rows_parked,
        "duties",
        "",
        "alert-triangle",
        "bad",
    ),
    Watch(
        "persona has a token that ends within 7 days",
        "personas have a token that ends within 7 days",
        "security.view_persona",
        _personas_of_tokens,
        "personas",
        "?tokens=ending",
        "key",
        "warn",
    ),
)


def notices(person: User) -> list[Notice]:
    """What the person can act on; all rows by one query, each count bounded."""
    watches = [watch for watch in WATCHES if not watch.permission or person.holds(watch.permission)]
    counts = counts_read([watch.of(person)[: MOST + 1] for watch in watches])
    found = [Notice(watch, count) for watch, count in zip(watches, counts, strict=True)]
    return [notice for notice in found if notice.count]
