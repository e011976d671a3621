"""A git server by ssh, as people set it up: public keys only, and no command but git's own."""

import asyncio
import shlex
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import asyncssh

USER = "git"


@dataclass(frozen=True)
class SshServer:
    """Where it is, the private key that it lets in, and its own public key."""

    port: int
    key: str
    host_key: str


@contextmanager
def ssh_serving() -> Iterator[SshServer]:
    """Serves the repositories of this machine on a free port."""
    ours, theirs = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            "127.0.0.1",
            0,
            server_host_keys=[theirs],
            authorized_client_keys=asyncssh.import_authorized_keys(ours.export_public_key().decode()),
            process_factory=_serve,
            encoding=None,
        )

    acceptor = asyncio.run_coroutine_threadsafe(start(), loop).result(30)
    try:
        yield SshServer(
            acceptor.get_port(),
            ours.export_private_key().decode(),
            " ".join(theirs.export_public_key().decode().split()[:2]),
        )
    finally:
        acceptor.close()
        asyncio.run_coroutine_threadsafe(acceptor.wait_closed(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


async def _serve(process: "asyncssh.SSHServerProcess[bytes]") -> None:
    words = shlex.split(process.command or "")
    if len(words) != 2 or words[0] != "git-upload-pack":
        process.exit(1)
        return
    pipe = asyncio.subprocess.PIPE
    git = await asyncio.create_subprocess_exec(
        "git", "upload-pack", words[1], stdin=pipe, stdout=pipe, stderr=pipe
    )
    feeding = asyncio.create_task(_copy(process.stdin, git.stdin))
    await asyncio.gather(_copy(git.stdout, process.stdout), _copy(git.stderr, process.stderr))
    feeding.cancel()
    process.exit(await git.wait())


async def _copy(source: Any, target: Any) -> None:
    while block := await source.read(65536):
        target.write(block)
        await target.drain()
