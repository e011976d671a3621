"""Runs other programs for the set-up, and says in words why one failed."""

import fcntl
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AGAIN = "Run the same command again; it goes on where it stopped."
CAUSES = (
    (
        r"No space left on device|ENOSPC|os error 28|Disk quota exceeded",
        f"the disk is full. Free about 1 GB (or move the checkout to a larger disk). {AGAIN}",
    ),
    (
        r"DO NOT MATCH THE HASHES|Hash mismatch|EINTEGRITY",
        (
            "a downloaded file is not the one that the lock names. Fetch the checkout anew; if it happens "
            "again, something between here and the package index changes files."
        ),
    ),
    (
        r"ensurepip",
        (
            "this Python cannot make virtual environments: python3-venv is missing. "
            f"Install it (Debian, Ubuntu: apt install python3-venv). {AGAIN}"
        ),
    ),
    (
        (
            r"EAI_AGAIN|ENOTFOUND|ECONN|ETIMEDOUT|ERR_SOCKET|network|name resolution|Proxy|"
            r"Failed to (fetch|connect)|[Cc]onnection|Max retries|timed out|dns error|No matching"
        ),
        f"the package index could not be reached. Check network and proxy settings. {AGAIN}",
    ),
)


class SetupError(Exception):
    """A step failed; the message is the sentence for the person, `tail` the tool's last lines."""

    def __init__(self, sentence: str, tail: str = "") -> None:
        super().__init__(sentence)
        self.tail = tail


class Tools:
    """Runs other programs quietly; keeps the set-up's lock alive in them and ends them on a signal."""

    def __init__(self) -> None:
        self.running: set[subprocess.Popen[bytes]] = set()
        self.lock = os.open(ROOT, os.O_RDONLY)
        self.stopping = False

    def take_lock(self) -> None:
        """One set-up at a time in one folder, also when an earlier one was killed and its pip goes on."""
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another set-up is at work in this folder; waiting for it.", flush=True)
            fcntl.flock(self.lock, fcntl.LOCK_EX)

    def run(self, what: str, *command: str | Path, **env: str) -> None:
        """Runs `command` in the checkout; raises SetupError with the cause in words when it fails."""
        if self.stopping:
            raise SetupError(f"{what} was called off.")
        with tempfile.TemporaryFile() as log:
            try:
                process = subprocess.Popen(
                    [str(part) for part in command],
                    cwd=ROOT,
                    env={**os.environ, **env},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    pass_fds=(self.lock,),
                )
            except OSError as error:
                raise SetupError(
                    f"{what} failed: {command[0]} cannot be started ({error.strerror})."
                ) from error
            self.running.add(process)
            code = process.wait()
            self.running.discard(process)
            log.seek(0)
            output = log.read().decode(errors="replace")
        if code:
            raise SetupError(explain(what, code, output), "\n".join(output.strip().splitlines()[-12:]))

    def end(self) -> None:
        """Ends what still runs."""
        self.stopping = True
        for process in tuple(self.running):
            process.terminate()
        for process in tuple(self.running):
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


def explain(what: str, code: int, output: str) -> str:
    """One sentence: what failed, why, and what to do."""
    if code < 0:
        return f"{what} was ended by {signal.Signals(-code).name}. {AGAIN}"
    for pattern, sentence in CAUSES:
        if re.search(pattern, output):
            return f"{what} failed: {sentence}"
    return f"{what} failed (exit code {code}); its last lines, below, say why. {AGAIN}"
