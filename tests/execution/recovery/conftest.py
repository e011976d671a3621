"""A tool that fails under each way of recovery."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from execution.engine.perform import queue_work
from execution.engine.wait import retries_due
from execution.features.recovery.end import fallbacks_end
from execution.models import Run, Status
from tests.execution.fixtures import Declare

Fail = Callable[..., Run]


def work() -> None:
    """Carries out what is due, as worker and steward would, until nothing more comes of itself."""
    moved = True
    while moved:
        waiting = Run.objects.filter(status__in=[Status.PENDING, Status.WAITING_RETRY])
        waiting.update(due_at=Now() - timedelta(seconds=1))
        moved = bool(retries_due() + queue_work("default") + fallbacks_end())


def now_of(run: Run) -> Run:
    return Run.objects.select_related("tool_version", "persona").get(pk=run.pk)


@pytest.fixture
def fail(call: Callable[..., Any], declare: Declare) -> Fail:
    """Calls a tool that fails under this recovery, and carries out all that follows; its run."""

    def do(recovery: dict[str, Any], tool: str = "fx_badout", **body: Any) -> Run:
        declare(tool, recovery=recovery, **body.pop("contract", {}))
        answer = call(tool, body={"arguments": {}, **body}, HTTP_PREFER="respond-async").json()
        work()
        return Run.objects.select_related("tool_version", "persona").get(pk=answer["metadata"]["run_id"])

    return do
