"""Programs that are started before they are wanted: a call of one that waits costs no start.

At the level isolated one started Python serves the calls of a release, each by a process of its own that is
forked when the call before is over (zygote.py). Elsewhere a program is used once, and the next one started
then. So nothing of one call is seen by another. What has waited for five minutes ends by itself.
"""

import dataclasses
import logging
import os
import threading
from collections import OrderedDict

from django.conf import settings

from core.errors import ToolHubError
from security.sandbox.launch import Finished, Launch
from security.sandbox.levels import Level
from security.sandbox.run import Held, Listener, Take, sandbox_run

log = logging.getLogger(__name__)
_lock = threading.Lock()
_waiting: OrderedDict[str, Held] = OrderedDict()
# Holds something where this machine does not let a zygote be made.
_unable: set[bool] = set()
# Their supervisors belong to the process that started them.
os.register_at_fork(after_in_child=_waiting.clear)


def warm_run(
    launch: Launch,
    cancelled: threading.Event,
    on_output: Take | None = None,
    *,
    proc: bool = True,
    listener: Listener | None = None,
) -> Finished:
    """As `sandbox_run`, by a program that waits if there is one, and has the next one wait."""
    key = _key(launch)
    held = _take(key)
    try:
        done = _finish(held, launch, cancelled, on_output, listener) if held else None
        if done is None:
            if held:
                held.close()
                held = None
            done = sandbox_run(launch, cancelled, on_output, proc=proc, listener=listener)
        return done
    except BaseException:
        if held:
            held.close()
            held = None
        raise
    finally:
        if settings.SANDBOX_WARM:
            _next_keep(key, held, launch, proc)
        elif held:
            held.close()


def _next_keep(key: str, held: Held | None, launch: Launch, proc: bool) -> None:
    """Where none can be had for the next call, this one's end is what it was all the same."""
    try:
        _keep(key, _next(held, launch, proc))
    except (OSError, ToolHubError) as error:
        log.warning("no program could be started for the next call: %s", error)


def _next(held: Held | None, launch: Launch, proc: bool) -> Held:
    """What the next call will use."""
    if held and held.lasts:
        return held
    if held:
        held.close()
    # What this call was given is not kept.
    launch = dataclasses.replace(launch, stdin=b"", secrets=None if launch.secrets is None else b"")
    lasts = bool(launch.prepare) and launch.level is Level.ISOLATED and not _unable
    return Held(launch, proc=proc, lasts=lasts)


def warm_clear() -> None:
    """Ends all that wait."""
    with _lock:
        held = list(_waiting.values())
        _waiting.clear()
    for each in held:
        each.close()


def _finish(
    held: Held,
    launch: Launch,
    cancelled: threading.Event,
    on_output: Take | None,
    listener: Listener | None,
) -> Finished | None:
    """None when the program had ended before it got its input: then nothing of the call has happened."""
    try:
        held.go(launch)
        done = held.finish(cancelled, on_output, listener)
    except ToolHubError as error:  # it could not be started; whether that holds is seen by starting one now
        if held.lasts:
            log.warning("no process can be kept for calls: %s", error.data.get("why"))
            _unable.add(True)
        return None
    return None if done.parked else done


def _key(launch: Launch) -> str:
    """Equal for launches that differ in nothing but input and time.

    A folder that was removed and made anew is another one: who waits still has the old one, which is empty.
    """
    limits = {**launch.limits.as_dict(), "wall_s": None, "start_s": None}
    mounts = [(mount, _identity(mount.host)) for mount in launch.mounts]
    environment, secret = sorted(launch.environment.items()), launch.secrets is not None
    network = launch.network, launch.network_bytes
    return repr((launch.argv, launch.level, mounts, environment, launch.cwd, limits, secret, network))


def _identity(path: str) -> tuple[int, int, int] | None:
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino, seen.st_ctime_ns


def _take(key: str) -> Held | None:
    with _lock:
        held = _waiting.pop(key, None)
    if held is None or held.is_alive:
        return held
    held.close()
    return None


def _keep(key: str, new: Held) -> None:
    """Keeps the newest so many; of one kind, one."""
    with _lock:
        over = [_waiting.pop(key)] if key in _waiting else []
        _waiting[key] = new
        while len(_waiting) > settings.SANDBOX_WARM:
            over.append(_waiting.popitem(last=False)[1])
    for each in over:
        each.close()
