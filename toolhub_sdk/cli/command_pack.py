"""`pack`: the package as a .zip that has the same bytes wherever it is made."""

import argparse
import hashlib
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from toolhub_sdk.canonical import canonical_text
from toolhub_sdk.checks.contents import ARCHIVE_BYTES_MAX, MANIFEST
from toolhub_sdk.checks.package import package_problems
from toolhub_sdk.cli.command_manifest import manifest_text
from toolhub_sdk.cli.package_folder import files_read, manifest_load
from toolhub_sdk.stop import StopError
from toolhub_sdk.strict_json import loads

# The oldest moment that a .zip can name.
MOMENT = (1980, 1, 1, 0, 0, 0)
_UNIX = 3


def run(options: argparse.Namespace) -> int:
    """Writes the archive, prints its digests. Raises StopError for a package that no hub would take."""
    files = files_read(options.folder)
    manifest = manifest_load(options.folder, files)
    problems = package_problems(manifest, files)
    if problems:
        first = problems[0]
        more = f"Run `check` for all {len(problems)} errors."
        raise StopError(f"{first.pointer or '/'}: {first.message} {more}")
    if MANIFEST not in files or loads(files[MANIFEST]) != manifest:
        files[MANIFEST] = manifest_text(manifest).encode()
    archive = archive_of(files)
    if len(archive) > ARCHIVE_BYTES_MAX:
        raise StopError(f"The archive has {len(archive)} bytes; hubs take {ARCHIVE_BYTES_MAX}.")
    output = options.output or Path("dist", f"{manifest['name']}-{manifest['version']}.zip")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(archive)
    print(f"{output}: {len(files)} files, {len(archive)} bytes")
    print(f"sha256   {hashlib.sha256(archive).hexdigest()}")
    digests = {path: hashlib.sha256(text).hexdigest() for path, text in files.items() if path != MANIFEST}
    whole = canonical_text({"manifest": manifest, "files": digests}).encode()
    print(f"release  {hashlib.sha256(whole).hexdigest()}")
    return 0


def archive_of(files: Mapping[str, bytes]) -> bytes:
    """The .zip of the files: by name, of one moment, with two modes, and stored, since what a compressor
    makes differs from one machine to the next.
    """
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, MOMENT)
            entry.create_system = _UNIX
            entry.external_attr = (0o100755 if files[path].startswith(b"#!") else 0o100644) << 16
            archive.writestr(entry, files[path])
    return made.getvalue()
