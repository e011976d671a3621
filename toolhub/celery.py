"""The Celery app. Celery is the doorbell only: the rows say what is to be done."""

import gc
import os
import signal
import warnings

from celery import Celery
from celery.signals import task_prerun, worker_before_create_process, worker_process_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolhub.settings")

# As root in a container celery warns at every start; the tools' code is held by the sandbox, not by it.
warnings.filterwarnings("ignore", "You're running the worker with superuser")

app = Celery("toolhub")
app.config_from_object("toolhub.celery_config")
app.autodiscover_tasks(["execution.engine", "registry.installations"])


@worker_before_create_process.connect
def share(**_: object) -> None:
    """What a worker has loaded is shared with its processes, as long as no collector writes to it."""
    gc.freeze()


@worker_process_init.connect
def stay(**_: object) -> None:
    """Who ends a service signals all of its processes: those that a worker has forked wait for its word.

    One that ended by itself would break its run off, or take the lock along by which all wait for work: then
    the worker, which asks for that lock at its end, never ended.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


@task_prerun.connect
def stay_alone(**_: object) -> None:
    """The same, but so that programs which are started from here on do not inherit it."""
    signal.signal(signal.SIGTERM, _nothing)


def _nothing(*_: object) -> None:
    """Is done."""


@worker_process_init.connect
def tidy(**_: object) -> None:
    """Each machine with workers keeps its own folders tidy."""
    # Models may be imported from here on only.
    from registry.installations.folders import folders_keep_tidy  # noqa: PLC0415

    folders_keep_tidy()
