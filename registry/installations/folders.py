"""Each machine keeps its own folders tidy: what a killed process left, and what no release uses any more.

Whatever is removed here can be made again: releases from the database, environments from their locks, what
runtimes prepare (such as compiled modules) from releases.
"""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from core.outage import database_failure_log
from registry.environments import ENVIRONMENTS, environment_name
from registry.installations.selectors import going_on
from registry.installations.sources.git import FETCHING
from registry.models import Archive, Release
from registry.runtimes import Made, hub_runtimes
from registry.scratch import files_older, folder_remove, folders_older, scratch_sweep
from registry.store import RELEASES

log = logging.getLogger(__name__)
EVERY_S = 60.0
# A run that began before its release was removed may use the folder yet.
KEPT_S = 600.0


def folders_tidy() -> int:
    """Removes what nobody owns or uses on this machine; returns how many folders that were."""
    swept = sum(scratch_sweep(settings.DATA / name) for name in (FETCHING, RELEASES, ENVIRONMENTS))
    swept += sum(_made_unused(name, each.made) for name, each in hub_runtimes().items() if each.made)
    return swept + sum(_unused(name, used) for name, used in _USED.items())


def folders_tidy_in_turn() -> int:
    """As `folders_tidy`, but of a machine's processes only one does so, every EVERY_S."""
    with _turn() as mine:
        return folders_tidy() if mine else 0


def folders_keep_tidy() -> threading.Thread:
    """Starts a thread that takes its turns for as long as this process lives."""
    thread = threading.Thread(target=_keep, name="folders", daemon=True)
    thread.start()
    return thread


def _keep() -> None:
    while True:
        try:
            folders_tidy_in_turn()
        except (DatabaseError, InterfaceError) as error:
            database_failure_log(log, "tidying folders", error)
        except OSError:
            log.exception("the folders could not be kept tidy")
        finally:
            connection.close()
        time.sleep(EVERY_S)


def _unused(name: str, used: Callable[[], set[str]]) -> int:
    # In this order: what is made after the look is not looked at.
    old = folders_older(settings.DATA / name, KEPT_S)
    kept = used() if old else set()
    gone = [folder for folder in old if folder.name not in kept]
    for folder in gone:
        folder_remove(folder)
    return len(gone)


def _digests_used() -> set[str]:
    releases = Release.objects.filter(removed_at=None).values_list("digest", flat=True)
    return {*releases, *going_on().values_list("digest", flat=True)}


def _environments_used() -> set[str]:
    releases = Release.objects.filter(removed_at=None).exclude(lock="").values_list("lock", flat=True)
    installations = going_on().exclude(lock="").values_list("lock", flat=True)
    return {environment_name(lock) for locks in (releases, installations) for lock in locks.distinct()}


_USED: dict[str, Callable[[], set[str]]] = {RELEASES: _digests_used, ENVIRONMENTS: _environments_used}


def _made_unused(runner: str, made: Made) -> int:
    """Removes what a runtime made of files that no release has, or for another engine, or made in part."""
    folder = settings.DATA / made.folder
    old = [*files_older(folder, KEPT_S), *folders_older(folder, KEPT_S)]
    kept = _made_used(runner, made) if old else set()
    gone = [each for each in old if each.name not in kept]
    for each in gone:
        if each.is_dir():
            folder_remove(each)
        else:
            each.unlink(missing_ok=True)
    return len(gone)


def _made_used(runner: str, made: Made) -> set[str]:
    releases = Release.objects.filter(removed_at=None, runner=runner)
    digests = {*releases.values_list("digest", flat=True), *going_on().values_list("digest", flat=True)}
    files = Archive.objects.filter(pk__in=digests).values_list("files", flat=True)
    return {made.name_of(digest) for each in files for digest in each.values()}


@contextmanager
def _turn() -> Iterator[bool]:
    """Whether it is this process's turn: nobody else is at it, or was within EVERY_S."""
    settings.DATA.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = os.open(settings.DATA / "folders.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        mine = _is_due(file)
        if mine:
            os.pwrite(file, b"\n", 0)
        yield mine
    finally:
        os.close(file)


def _is_due(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    about = os.fstat(file)
    return about.st_size == 0 or not 0 <= time.time() - about.st_mtime < EVERY_S
