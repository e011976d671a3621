"""A beginning whose commit was answered to nobody: whether it stands is looked up by another connection.

A run that was begun so is this process's, and nobody else carries it out. Left to the reaper it would be one
of which nobody knows whether it had an effect, though it never did.
"""

import time
from uuid import UUID

from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, close_old_connections, connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from execution.models import Attempt, Run, Status

# What a lost connection raises, among other things.
LOST = (OperationalError, InterfaceError)
AGAIN_S = 0.2
# What has reached the server is done within so many seconds.
ARRIVES_S = 1.0


def is_begun(run: Run, token: UUID) -> bool:
    """Whether an attempt is begun under the lease of that token, which then lasts anew.

    Not for within a transaction: that is lost, too.

    While the database is away it is asked again, as long as the lease lasts; then its error is raised.
    """
    asked = time.monotonic()
    while True:
        close_old_connections()
        try:
            found = _look(run, token)
        except Error:
            # Also where the lost commit is under way yet: it holds the run's row.
            if time.monotonic() - asked > settings.LEASE_S:
                raise
        else:
            if found is not None or time.monotonic() - asked > ARRIVES_S:
                return bool(found)
        time.sleep(AGAIN_S)


def _look(run: Run, token: UUID) -> bool | None:
    """None where there is no such run, or none yet."""
    here = Run.objects.filter(pk=run.pk)
    with transaction.atomic():
        nowait = connection.features.has_select_for_update_nowait
        row = here.select_for_update(nowait=nowait).values_list("status", "lease_token").first()
        if row is None:
            return None
        mine = Attempt.objects.filter(run=run, lease_token=token, started_at__isnull=False)
        if row != (Status.RUNNING, token) or not mine.exists():
            return False
        here.update(beats=F("beats") + 1, beat_at=Now())
        return True
