"""Telling people that a run waits for one of them, by mail; never with the call's arguments."""

from collections.abc import Callable

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse

from core.outbox.kinds import Mail, Try, Undeliverable
from core.outbox.models import Delivery
from core.outbox.services import MAIL, delivery_add
from execution.models import Attempt, Recovery, Run, Status
from security.models import User
from security.sharing.people import people_with

ASKED, ESCALATION = "recovery.asked", "recovery.escalated"
PEOPLE_MAX = 50


def person_notify(run: Run) -> None:
    """Owes the mail to those who may resolve runs, in the transaction that lets the run wait."""
    _owe(run, ASKED)


def escalation_notify(run: Run) -> None:
    """The same to those of the group that the contract names."""
    _owe(run, ESCALATION)


def _owe(run: Run, kind: str) -> None:
    if settings.MAIL_FROM:
        delivery_add(kind=kind, subject=run.pk, owner=f"recovery:{run.persona_id}", url=MAIL)


class RecoveryMail:
    """The mail of one kind, to the people whom it is for."""

    def __init__(self, name: str, people: Callable[[Recovery], QuerySet[User]]) -> None:
        self.name = name
        self._people = people

    def mail(self, delivery: Delivery) -> Mail:
        """Which run waits, why, and where to resolve it."""
        rows = Recovery.objects.select_related("run__tool_version__tool__package", "run__persona")
        row = rows.filter(run=delivery.subject, run__status=Status.AWAITING_PERSON).first()
        if row is None:
            raise Undeliverable("the run does not wait any more")
        run, code = row.run, Attempt.objects.get(run=row.run, number=row.run.attempt).error_code
        to = list(self._people(row).exclude(email="").values_list("email", flat=True)[:PEOPLE_MAX])
        if not to:
            raise Undeliverable("nobody whom it is for has an address")
        address = f"{settings.PUBLIC_URL.rstrip('/')}{reverse('run_resolve', args=[run.pk])}"
        text = (
            f"{run.tool} {run.tool_version.version} failed with {code} for {run.persona.name}.\n"
            f"Its contract leaves the rest to a person. Say what is to become of the run:\n{address}\n"
        )
        return Mail(f"ToolHub: a run of {run.tool} waits for a person", text, to)

    def told(self, delivery: Delivery, news: Try) -> None:
        """How it went stands in the delivery's row."""


def _resolvers(row: Recovery) -> QuerySet[User]:
    run = row.run
    return people_with("execution.resolve_run", run.persona, run.tool_version.tool).order_by("username")


def _group(row: Recovery) -> QuerySet[User]:
    """Of the group those who may resolve the run; where it has none with an address, all who may.

    For others it does not exist, whatever group a contract names.
    """
    able = _resolvers(row)
    group = able.filter(groups__name=row.escalates_to)
    return group if group.exclude(email="").exists() else able


KINDS = (RecoveryMail(ASKED, _resolvers), RecoveryMail(ESCALATION, _group))
