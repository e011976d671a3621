"""Environments that calls need on a machine which has not made them yet.

A call waits for one no longer than its start may take. The making goes on without it, so that a later call
finds the environment.
"""

import logging
import threading
import time
from pathlib import Path
from threading import Event

from core.errors import ToolHubError
from registry.environments import environment_build, environment_place
from registry.models import Release

log = logging.getLogger(__name__)
_LOOK_S = 0.05
_making: dict[str, "_Making"] = {}
_lock = threading.Lock()


def environment_folder(release: Release, *, seconds: float, cancelled: Event) -> Path | None:
    """The folder of a release's dependencies, to be put on the path; None when it has none.

    Raises ToolHubError: DEPENDENCY_MISSING when it cannot be had, or not within `seconds` (then retryable),
    RESOURCE_EXCEEDED, CANCELLED.
    """
    if not release.lock:
        return None
    folder = environment_place(release.lock)
    if folder.is_dir():
        return folder
    making = _of(release.lock)
    ends = time.monotonic() + seconds
    while making.is_alive() and time.monotonic() < ends and not cancelled.is_set():
        making.join(_LOOK_S)
    if cancelled.is_set():
        raise ToolHubError("The run was cancelled.", code="CANCELLED")
    if making.is_alive():
        raise ToolHubError(
            f"The packages that {release} needs are being installed on this worker.",
            code="DEPENDENCY_MISSING",
            suggestions=["Call it again in a minute: nothing of it was run."],
            retryable=True,
        )
    if making.error is not None:
        raise making.error
    return folder


class _Making(threading.Thread):
    """One environment being made; `error` says why it could not be."""

    def __init__(self, lock: str) -> None:
        super().__init__(name="environment", daemon=True)
        self._text = lock
        self.error: ToolHubError | OSError | None = None

    def run(self) -> None:
        try:
            environment_build(self._text, say=log.info, cancelled=Event())
        except (ToolHubError, OSError) as error:
            self.error = error
        except Exception:
            log.exception("an environment could not be made")
            self.error = ToolHubError("The worker made a mistake. It is logged.", code="INTERNAL")
        finally:
            with _lock:
                _making.pop(self._text, None)


def _of(lock: str) -> _Making:
    with _lock:
        making = _making.get(lock)
        if making is None:
            making = _making[lock] = _Making(lock)
            making.start()
        return making
