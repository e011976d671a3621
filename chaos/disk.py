"""A small disk for some of the database's tables, which can be filled. Mounting it takes root."""

import contextlib
import os
import subprocess

from chaos.postgres import Postgres


class DiskMissing(Exception):
    """A small disk cannot be mounted here."""


class SmallDisk:
    """A file system in memory that holds tables of a server."""

    def __init__(self, server: Postgres, tables: tuple[str, ...], *, megabytes: int) -> None:
        self._place = server.folder / "disk"
        self._place.mkdir()
        options = f"size={megabytes}m,mode=777"
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(self._place)]
        if os.getuid() or subprocess.run(command, check=False, capture_output=True).returncode:
            raise DiskMissing("a small disk cannot be mounted here")
        self._ballast = self._place / "ballast"
        try:
            space = self._place / "space"
            space.mkdir()
            owner = server.folder.stat()
            os.chown(space, owner.st_uid, owner.st_gid)
            server.execute(f"CREATE TABLESPACE small LOCATION '{space}'")
            for table in tables:
                server.execute(f"ALTER TABLE {table} SET TABLESPACE small")
        except BaseException:
            self.remove()
            raise

    def fill(self) -> None:
        """Leave no room."""
        with contextlib.suppress(OSError), self._ballast.open("wb", buffering=0) as ballast:
            while True:
                ballast.write(b"\0" * 4096)

    def clear(self) -> None:
        """Make room again."""
        self._ballast.unlink(missing_ok=True)

    def remove(self) -> None:
        """Unmount it; where the server has files open there, once they are closed."""
        subprocess.run(["umount", "--lazy", str(self._place)], check=True)
