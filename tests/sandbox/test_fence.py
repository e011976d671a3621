"""uv, which reads what an index sends, reads nothing of the hub and writes nowhere but where it makes packages."""

import subprocess
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from core.programs import Ended, program_run
from registry import environments
from security.sandbox import abilities, fence, landlock
from security.sandbox.fence import fenced

pytestmark = pytest.mark.sandbox
LOOK = """
cat {secret} && echo read
echo x >{outside} && echo wrote outside
cat /proc/1/environ >/dev/null && echo read an environment
echo x >{inside}/file && cat {inside}/file {named}/wheel
"""


def test_what_is_fenced_finds_what_it_is_given_and_nothing_else(tmp_path: Path) -> None:
    secret, inside, named = tmp_path / "secret", tmp_path / "inside", tmp_path / "named"
    secret.write_text("secret")
    inside.mkdir()
    named.mkdir()
    (named / "wheel").write_text("wheel\n")
    script = LOOK.format(secret=secret, outside=tmp_path / "new", inside=inside, named=named)
    argv = fenced(["/bin/sh", "-c", script], read=[str(named)], write=[str(inside)])
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("x\nwheel\n", 0), done.stderr
    assert not (tmp_path / "new").exists()


def test_uv_is_fenced(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says of a file of the hub that an index could point it at."""
    (tmp_path / "secret.toml").write_text("secret = 1")
    (tmp_path / "data").mkdir()
    settings.DATA = tmp_path / "data"
    seen: list[list[str]] = []

    def run(argv: list[str], **more: Any) -> Ended:
        end = argv.index("--")
        seen.append(argv)
        cat = [*argv[: end + 1], "/bin/sh", "-c", f"cat {tmp_path}/secret.toml && exit 0; exit 1"]
        return program_run(cat, seconds=60, cancelled=Event())

    monkeypatch.setattr(environments, "program_run", run)
    with pytest.raises(Exception, match="Getting the dependencies failed"):
        environments.lock_make(["x"], say=lambda line: None, cancelled=Event())
    assert seen


def test_folders_that_an_admin_names_for_uv_can_be_read() -> None:
    named = environments._named(
        {
            "UV_FIND_LINKS": "/srv/wheels https://example.org/more",
            "UV_INDEX": "own=file:///srv/index",
            "SSL_CERT_FILE": "/srv/ca.pem",
            "OTHER": "/srv/other",
            "UV_INDEX_URL": "https://user:word@example.org/simple",
        }
    )
    assert named == ["/srv/wheels", "/srv/index", "/srv/ca.pem"]


def test_without_landlock_the_doctor_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (abilities, landlock):
        monkeypatch.setattr(module, "landlock_version", lambda: 0)
    assert fenced(["/bin/true"], read=[], write=[]) == ["/bin/true"]
    found = abilities._wheels()
    assert (found.holds, found.remedies) == (False, (abilities.LANDLOCK,))
    assert fence.landlock is landlock
