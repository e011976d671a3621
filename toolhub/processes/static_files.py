"""Static files: collected anew when one of them has changed."""

import hashlib
import os
import shutil

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def static_prepare() -> None:
    """Collects them to STATIC_ROOT, unless they lie there already; in debug mode they are served in place."""
    stamp, value = settings.DATA / "static.digest", static_digest()
    if settings.DEBUG or (stamp.is_file() and stamp.read_text() == value and settings.STATIC_ROOT.is_dir()):
        return
    shutil.rmtree(settings.STATIC_ROOT, ignore_errors=True)
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(value)


def static_digest() -> str:
    """SHA-256 over names, sizes and times of all static files, and how they are stored."""
    total = hashlib.sha256(repr(settings.STORAGES["staticfiles"]).encode())
    for finder in get_finders():
        for name, storage in finder.list([]):
            status = os.stat(storage.path(name))
            total.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return total.hexdigest()
