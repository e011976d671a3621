"""A git repository at one commit, read without a checkout: no hook, filter, attribute or submodule acts.

Files are read from the object store by the tree's ids (git-ls-tree, git-cat-file), so that links in a
repository are entries which we refuse, never something that a file system follows.
"""

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from django.conf import settings

from core.errors import InvalidRequest, ToolHubError
from core.program_bounds import MIB, Bounds
from core.programs import OVER, Ended, lacks_room, program_run
from registry.archives.contents import (
    BYTES_MAX,
    FILE_BYTES_MAX,
    FILES_MAX,
    is_left_out,
    path_check,
    path_refuse,
)
from registry.installations.job import Job
from registry.installations.sources.git_address import COMMIT, GitAddress, address_check, ref_check
from registry.installations.sources.git_credentials import credentials_read
from registry.installations.sources.git_keys import identity_of
from registry.installations.sources.source import Fetched
from registry.scratch import scratch
from toolhub_sdk.normal_form import url_split

FETCHING = "fetching"
FETCH_S = 180.0
READ_S = 60.0
PACK_BYTES_MAX = 256 * 1024 * 1024
BOUNDS = Bounds(memory_bytes=256 * MIB, cpu_s=120, tasks=32, file_bytes=PACK_BYTES_MAX)
_REGULAR = {"100644", "100755"}
_SETTINGS = {
    # Large files are streamed, and caches are small: a repository of a few MB could else take a GB.
    "core.bigFileThreshold": "1m",
    "core.deltaBaseCacheLimit": "16m",
    "core.hooksPath": os.devnull,
    "core.packedGitLimit": "64m",
    "core.packedGitWindowSize": "8m",
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    # index-pack for every pack: unpack-objects would hold each object in memory.
    "fetch.unpackLimit": "1",
    "gc.auto": "0",
    "http.followRedirects": "false",
    # A git whose worker was killed ends by itself, too: nobody is left to stop it.
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "http.proxy": "",
    "index.threads": "1",
    "maintenance.auto": "false",
    "pack.threads": "1",
    "pack.windowMemory": "32m",
    "protocol.version": "2",
    "submodule.recurse": "false",
    "transfer.fsckObjects": "true",
}


class _Asker(Protocol):
    """Who runs git: an installation's job, or a person who tests credentials."""

    cancelled: threading.Event

    def check(self) -> None:
        """Raise ToolHubError CANCELLED where somebody cancelled."""

    def say(self, text: str) -> None:
        """Take a line of git's."""


@dataclass
class _Git:
    """git in one temporary repository, with nobody's configuration but ours."""

    job: _Asker
    folder: Path
    address: GitAddress
    options: dict[str, str] = field(default_factory=lambda: dict(_SETTINGS))
    environment: dict[str, str] = field(default_factory=dict)

    def run(
        self,
        *arguments: str,
        seconds: float,
        given: bytes = b"",
        on_bytes: Callable[[bytes], None] | None = None,
    ) -> None:
        """Runs a git command. Raises ToolHubError SOURCE_FAILED with what git said, CANCELLED."""
        told: list[str] = []
        ended = program_run(
            [
                "git",
                *(part for option in self.options.items() for part in ("-c", "=".join(option))),
                *arguments,
            ],
            given=given,
            folder=self.folder,
            seconds=seconds,
            cancelled=self.job.cancelled,
            environment={
                "HOME": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_TERMINAL_PROMPT": "0",
                "GIT_ALLOW_PROTOCOL": self.address.scheme,
                "GIT_DIR": str(self.folder / "repository"),
                **self.environment,
            },
            on_bytes=on_bytes,
            on_error=told.append,
            bounds=BOUNDS,
        )
        if ended is Ended.WELL:
            return
        self.job.check()
        if ended in OVER:
            raise ToolHubError(
                f"git used {OVER[ended]} for this repository than the hub gives it.",
                code="RESOURCE_EXCEEDED",
                suggestions=["Use a repository with smaller files, or upload the package as a zip."],
                data={"resource": ended.value, "bounds": asdict(BOUNDS)},
            )
        if lacks_room(told):
            raise ToolHubError("The hub's disk has no room left.", code="RESOURCE_EXCEEDED")
        why = "took too long" if ended is Ended.LATE else "failed"
        said = [line.replace(str(self.folder), "") for line in told[-10:]]
        for line in said:
            self.job.say(f"git: {line}")
        raise ToolHubError(f"Reading the repository {why}.", code="SOURCE_FAILED", data={"said": said})

    def output(self, *arguments: str, seconds: float = READ_S, given: bytes = b"") -> bytes:
        """What the command writes."""
        parts: list[bytes] = []
        self.run(*arguments, seconds=seconds, given=given, on_bytes=parts.append)
        return b"".join(parts)


def git_fetch(job: Job) -> Fetched:
    """The files of the wanted ref, pinned to its commit. Raises ToolHubError."""
    one = job.installation
    ref_check(one.ref)
    address = address_check(one.location)
    # A killed worker's folder holds a key: it is found by its place and removed (folders.py).
    with scratch(settings.DATA / FETCHING, "git") as folder:
        git = _Git(job, folder, address)
        _credentials(git)
        git.run("init", "--quiet", "--bare", "--template=", str(folder / "repository"), seconds=READ_S)
        job.say(f"Fetching {one.ref or 'HEAD'} of {one.location}")
        git.run(
            *("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"),
            *("--", address.address, one.ref or "HEAD"),
            seconds=FETCH_S,
        )
        commit = git.output("rev-parse", "--verify", "FETCH_HEAD^{commit}").decode().strip()
        if COMMIT.fullmatch(one.ref) and one.ref != commit:
            raise ToolHubError("The source gave another commit.", code="DIGEST_MISMATCH")
        job.say(f"Commit {commit}")
        return Fetched(_files(git, commit, one.path), {"commit": commit})


class _Person:
    """A person who waits for the answer of a server, without a log."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()

    def check(self) -> None:
        """Nobody cancels."""

    def say(self, text: str) -> None:
        """Nobody reads along."""


def git_ask(location: str, seconds: float) -> None:
    """Ask a repository for its newest commit, as an installation would, and keep nothing.

    Raises ToolHubError SOURCE_REFUSED, and SOURCE_FAILED with git's last lines as `data["said"]`.
    """
    address = address_check(location)
    with scratch(settings.DATA / FETCHING, "git") as folder:
        git = _Git(_Person(), folder, address, environment={"LC_ALL": "C"})
        _credentials(git)
        git.run("init", "--quiet", "--bare", "--template=", str(folder / "repository"), seconds=READ_S)
        git.run("ls-remote", "--quiet", "--", address.address, "HEAD", seconds=seconds)


def _files(git: _Git, commit: str, path: str) -> dict[str, bytes]:
    tree = f"{commit}:{path_check(path.strip('/'))}" if path.strip("/") else f"{commit}^{{tree}}"
    wanted: dict[str, str] = {}
    for name, blob in _entries(
        git.output("ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", tree)
    ):
        if name in wanted:
            raise path_refuse(name, "is there twice")
        wanted[name] = blob
    if not wanted:
        raise ToolHubError("There are no files at this place of the repository.", code="SOURCE_FAILED")
    ids = "".join(f"{blob}\n" for blob in wanted.values()).encode()
    stream = git.output("cat-file", "--batch=%(objectsize)", "--buffer", given=ids)
    contents = {}
    at = 0
    for name in wanted:
        line_end = stream.index(b"\n", at)
        size = int(stream[at:line_end])
        contents[name] = stream[line_end + 1 : line_end + 1 + size]
        if len(contents[name]) != size:
            raise ToolHubError("The repository's files did not come whole.", code="SOURCE_FAILED")
        at = line_end + size + 2
    return contents


def _entries(listing: bytes) -> Iterator[tuple[str, str]]:
    """Path and object id of each file; what is no regular file is refused."""
    many = total = 0
    for line in listing.split(b"\0"):
        if not line:
            continue
        about, _, raw = line.partition(b"\t")
        mode, _, blob, size = about.decode("ascii").split()
        name = raw.decode("utf-8", "replace")
        if is_left_out(name):
            continue
        name = path_check(name)
        if mode not in _REGULAR:
            kind = "a submodule" if mode == "160000" else "a link"
            raise path_refuse(name, f"is {kind}; only files and folders are taken")
        many, total = many + 1, total + int(size)
        if many > FILES_MAX or total > BYTES_MAX or int(size) > FILE_BYTES_MAX:
            raise InvalidRequest(
                f"The package has more than {FILES_MAX} files or {BYTES_MAX} bytes.", code="PACKAGE_REFUSED"
            )
        yield name, blob


def _credentials(git: _Git) -> None:
    """Gives git what the admin set for this host, in files of the temporary folder, and pins its address."""
    address = git.address
    if os.environ.get("SSL_CERT_FILE"):
        git.options["http.sslCAInfo"] = os.environ["SSL_CERT_FILE"]
    if address.pins and address.scheme in {"http", "https"}:
        pins = ",".join(f"[{pin}]" if pin.version == 6 else str(pin) for pin in address.pins)
        git.options["http.curloptResolve"] = f"{address.host.strip('[]')}:{address.port}:{pins}"
    given = (*settings.GIT_CREDENTIALS, *credentials_read())
    mine = [line for line in given if _is_for(line, address)]
    if mine:
        store = _private(git.folder / "credentials", "\n".join(mine) + "\n")
        git.options["credential.helper"] = f"store --file={store}"
    if address.scheme == "ssh":
        identity = identity_of(address.host, address.port)
        key = _private(git.folder / "key", identity.key + "\n")
        hosts = _private(git.folder / "hosts", identity.hosts)
        options = (
            f"-F none -i {key} -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=yes"
            f" -o UserKnownHostsFile={hosts} -o GlobalKnownHostsFile=none -o ProxyCommand=none"
            f" -o HostName={address.pins[0]} -o HostKeyAlias={address.host} -o ClearAllForwardings=yes"
            " -o ConnectTimeout=20 -o ServerAliveInterval=15 -o ServerAliveCountMax=4"
        )
        git.environment["GIT_SSH_COMMAND"] = f"ssh {options}"


def _is_for(line: str, address: GitAddress) -> bool:
    parts = url_split(line)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return (parts.scheme, parts.hostname, port) == (address.scheme, address.host, address.port)


def _private(file: Path, text: str) -> Path:
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")
    return file
