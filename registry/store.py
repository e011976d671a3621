"""Releases as folders that workers can run from, made when they are first needed."""

import os
from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from core.errors import NotFound
from registry.archives.contents import Contents
from registry.archives.zips import zip_read
from registry.models import Archive, Release
from registry.scratch import folder_remove, scratch

RELEASES = "releases"


def release_folder(release: Release) -> Path:
    """The folder with the release's files, `toolhub.json` among them; unpacked when it is not there yet.

    Nobody writes in it. Raises NotFound when the release's archive is not kept any more.
    """
    folder = settings.DATA / RELEASES / release.digest
    return folder if folder.is_dir() else folder_make(folder, lambda new: _unpack(release, new))


def release_folder_remove(digest: str) -> None:
    """Removes it from this machine; others find out by themselves (registry/installations/folders.py)."""
    folder_remove(settings.DATA / RELEASES / digest)


def folder_make(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Fills a new folder and puts it in its place at once; who comes second gives the first one's back."""
    with scratch(folder.parent, folder.name[:16]) as new:
        fill(new)
        _open_to_readers(new)
        try:
            new.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
    return folder


def files_write(contents: Contents, folder: Path) -> None:
    """Writes checked contents below a folder."""
    for path, content in contents.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _open_to_readers(folder: Path) -> None:
    """Whatever this process's umask is: a sandbox runs as nobody, who is to read all and to write nothing."""
    folder.chmod(0o755)
    for path, folders, files in os.walk(folder):
        for name in folders:
            os.chmod(os.path.join(path, name), 0o755)  # noqa: S103
        for name in files:
            os.chmod(os.path.join(path, name), 0o555)  # noqa: S103


def _unpack(release: Release, folder: Path) -> None:
    archive = Archive.objects.filter(pk=release.digest).first()
    if archive is None:
        raise NotFound(f"The files of {release} are not kept any more.")
    files_write(zip_read(bytes(archive.content)), folder)
