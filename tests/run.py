"""What `make test` runs: the suite on every database and broker that is reachable.

TOOLHUB_REQUIRE_SERVICES=1 makes a missing service a failure. Arguments go to pytest.

The suites load the machine heavily. A few tests that failed in this are run a second time with nothing beside
them; one that passes then is told as unsteady, with its first failure: it is to be mended, but fails nothing.
"""

import fcntl
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree as ET

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.migrated import migrated_copy, migrated_drop, migrated_make
from tests.services import CHECKOUT, RABBITMQ, REDIS, ROOT, Service, database_url, services

# As many as run at the same time; a shape starts workers of its own, too.
SLOTS = 2
# Beside them one of the shapes that mostly wait: for leases to end, and services to come back. Where none of its
# kind is left, one of the others is taken.
SLOTS_WAITING = 1
TAIL = 120
# More failures of one shape than this are no matter of load.
UNSTEADY_MAX = 3
SERVICES_ONLY = "TOOLHUB_TEST_SERVICES_ONLY"
ONCE = ("browser", "setup", "faults", "outages", "hostile")


@dataclass(frozen=True)
class Shape:
    """One pytest run: the marks that it selects (none: all that is not run once), the services that it needs,
    its settings, and whether it mostly waits.
    """

    name: str
    marks: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    waits: bool = False
    # Pytest's expression for what another shape has tried already.
    without: str = ""
    # Folders and files that another shape tries, where it runs: what touches a service in them is left out here.
    elsewhere: tuple[str, ...] = ()

    @property
    def services_only(self) -> bool:
        """Whether it leaves out whatever touches neither database nor broker."""
        return SERVICES_ONLY in self.env

    @property
    def select(self) -> str:
        """Pytest's expression."""
        marked, once = " or ".join(self.marks), " or ".join(ONCE)
        if set(self.marks) - set(ONCE):
            return f"({marked}) and not ({once})"
        return marked or " and ".join(f"not ({each})" for each in (once, self.without) if each)

    @property
    def files(self) -> list[str]:
        """The test files in which one of the marks stands: to collect all others takes long."""
        if not self.marks:
            return []
        word = re.compile(rf"\bmark\.(?:{'|'.join(self.marks)})\b")
        tests = sorted((ROOT / "tests").rglob("test_*.py"))
        return [str(file.relative_to(ROOT)) for file in tests if word.search(file.read_text("utf-8"))]


# The longest first.
SHAPES = (
    # Pages and routes ask by Django's own queries, and the browser looks at each page on SQLite. What engines of
    # containers say touches no database.
    Shape(
        "sqlite+embedded",
        elsewhere=("tests/pages", "tests/web/test_every_route.py", "tests/sandbox/test_containers.py"),
    ),
    Shape(
        "postgres+redis",
        needs=("PostgreSQL", "Redis"),
        env={
            "TOOLHUB_DATABASE_URL": database_url("redis"),
            "TOOLHUB_BROKER_URL": REDIS,
            # What touches neither database nor broker was tried by the shape above.
            SERVICES_ONLY: "1",
        },
        # What runs in the sandbox as well, but for what workers carry out.
        without="sandbox and not broker",
        # Walks over forms, edits and queries of the routes, and rules about words, rights and providers, ask by
        # Django's own queries, too: the shape above tries them, and this one pages, and each route with each role.
        elsewhere=(
            "tests/contract/test_every_code.py",
            "tests/docs",
            "tests/providers",
            "tests/registry/policy",
            "tests/security/test_provider.py",
            "tests/text",
            "tests/web/test_description.py",
            "tests/web/test_every_creation.py",
            "tests/web/test_every_edit.py",
            "tests/web/test_every_form.py",
            "tests/web/test_foreign_text.py",
            "tests/web/test_hidden_objects.py",
            "tests/web/test_queries.py",
        ),
    ),
    Shape("browser", ("browser",), ("chromium",)),
    Shape("hostile", ("hostile",), ("bubblewrap",)),
    Shape("setup", ("setup",)),
    Shape(
        "outages",
        ("outages",),
        ("PostgreSQL", "Redis"),
        {"TOOLHUB_DATABASE_URL": database_url("outages"), "TOOLHUB_BROKER_URL": REDIS},
        waits=True,
    ),
    Shape(
        "faults",
        ("faults",),
        ("PostgreSQL", "Redis"),
        {"TOOLHUB_DATABASE_URL": database_url("faults"), "TOOLHUB_BROKER_URL": REDIS},
        waits=True,
    ),
    Shape(
        "postgres+rabbitmq",
        ("broker", "services"),
        ("PostgreSQL", "RabbitMQ"),
        {"TOOLHUB_DATABASE_URL": database_url("rabbitmq"), "TOOLHUB_BROKER_URL": RABBITMQ},
        waits=True,
    ),
)


@dataclass
class Outcome:
    """Counts of one shape, and the end of its output when it failed."""

    shape: Shape
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    output: str = ""
    broken: bool = False
    unsteady: int = 0


def environment(shape: Shape, data: str) -> dict[str, str]:
    """A clean environment: no setting of the person's own hub gets into the tests.

    They start hundreds of processes: none is to compile again what another one has.
    """
    kept = ("TOOLHUB_REQUIRE_SERVICES", "TOOLHUB_TEST_")
    out = ("TOOLHUB_", "DJANGO_", "PROMETHEUS_", "PYTHONDONTWRITEBYTECODE")
    own = {key: value for key, value in os.environ.items() if not key.startswith(out)}
    own |= {key: value for key, value in os.environ.items() if key.startswith(kept)}
    settings = {"TOOLHUB_DATA": data, "TOOLHUB_TEST_SHAPE": shape.name}
    settings["TOOLHUB_TEST_ELSEWHERE"] = " ".join(shape.elsewhere)
    return {**own, **settings, "TOOLHUB_QUEUE_PREFIX": f"test.{CHECKOUT}.{shape.name}.", **shape.env}


def run(shape: Shape, leave_out: str, arguments: list[str], cache: Path) -> Outcome:
    """Runs pytest for one shape with a data folder of its own; `cache` remembers what failed."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="toolhub-test-") as folder:
        report, data = Path(folder) / "report.xml", Path(folder) / "data"
        # SQLite's is there; PostgreSQL's is made of the template.
        migrated_copy(data / "test.sqlite3")
        kept = "--create-db" if "PostgreSQL" in shape.needs else "--reuse-db"
        command = [sys.executable, "-m", "pytest", "-q", kept, "-m", f"({shape.select}){leave_out}"]
        command += [f"--junitxml={report}", "-o", f"cache_dir={cache / shape.name}", *arguments]
        if all(each.startswith("-") for each in arguments):
            command += shape.files
            # To collect them takes long, too.
            command += [f"--ignore={each}" for each in shape.elsewhere if shape.services_only]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment(shape, str(data)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        outcome = Outcome(shape, output=done.stdout, seconds=time.monotonic() - start)
        if report.is_file():
            for suite in ET.parse(report).getroot().iter("testsuite"):
                count = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
                outcome.failed += count["failures"] + count["errors"]
                outcome.skipped += count["skipped"]
                outcome.passed += count["tests"] - count["failures"] - count["errors"] - count["skipped"]
    # pytest: 0 all passed, 1 some failed, 5 nothing selected; the rest is no test result.
    outcome.broken = done.returncode not in (0, 5) and not outcome.failed
    return outcome


def run_again(outcome: Outcome, leave_out: str, arguments: list[str], cache: Path) -> Outcome:
    """The outcome after those that failed were run a second time, where that can tell something."""
    if outcome.broken or not 0 < outcome.failed <= UNSTEADY_MAX:
        return outcome
    again = run(outcome.shape, leave_out, ["--last-failed", *arguments], cache)
    steady = outcome.failed if again.broken or not again.passed else min(again.failed, outcome.failed)
    again.unsteady = outcome.failed - steady
    again.passed, again.failed = outcome.passed + again.unsteady, steady
    again.skipped, again.broken = outcome.skipped, False
    print(f"A second time, with nothing beside them: {again.unsteady} unsteady.", flush=True)
    tell(again)
    return again


def tell(outcome: Outcome) -> None:
    shape = outcome.shape.name
    bad = outcome.failed or outcome.broken
    if bad:
        lines = outcome.output.strip().splitlines()[-TAIL:]
        print(
            f"\n----- {shape}: the last {len(lines)} lines -----", *lines, f"----- {shape} -----\n", sep="\n"
        )
    for line in outcome.output.splitlines():
        if line.startswith("SKIPPED") and not bad:
            print(f"  {shape}: {line}")
    word = "did not run to its end" if outcome.broken else f"{outcome.passed} passed, {outcome.failed} failed"
    print(f"{shape}: {word}, {outcome.skipped} skipped ({outcome.seconds:.0f} s)", flush=True)


def choose(found: dict[str, Service]) -> tuple[list[Shape], list[str]]:
    """The shapes that can run, and a sentence for each group that is left out."""
    shapes, left_out = [], []
    for shape in SHAPES:
        missing = [found[name] for name in shape.needs if found[name].missing]
        if missing:
            why = "; ".join(f"{service.name}: {service.missing}" for service in missing)
            left_out.append(f"{shape.name} ({why})")
        else:
            shapes.append(shape)
    if not any(shape.name == "postgres+redis" for shape in shapes):
        shapes = [replace(shape, elsewhere=()) for shape in shapes]
    if found["bubblewrap"].missing:
        left_out.append(f"sandbox (bubblewrap: {found['bubblewrap'].missing})")
    return shapes, left_out


def main(arguments: list[str]) -> int:
    lock = os.open(Path(__file__), os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    found = services()
    shapes, left_out = choose(found)
    required = os.environ.get("TOOLHUB_REQUIRE_SERVICES") == "1"
    for group in left_out:
        print(f"{'MISSING' if required else 'Left out'}: {group}", flush=True)
    print(f"Running: {', '.join(shape.name for shape in shapes)}", flush=True)
    without = " and not sandbox" if found["bubblewrap"].missing else ""
    telling = threading.Lock()

    left = list(shapes)

    def taken(waits: bool) -> Shape | None:
        """The next shape that waits, or that does not; one of the other kind when there is none such."""
        with telling:
            fit = [shape for shape in left if shape.waits == waits] or left
            return left.pop(left.index(fit[0])) if fit else None

    def perform(waits: bool, cache: Path) -> list[Outcome]:
        outcomes = []
        while shape := taken(waits):
            outcomes.append(run(shape, without, arguments, cache))
            with telling:
                tell(outcomes[-1])
        return outcomes

    with tempfile.TemporaryDirectory(prefix="toolhub-test-") as folder:
        cache = Path(folder)
        os.environ |= migrated_make(cache / "migrated", postgres=not found["PostgreSQL"].missing)
        with ThreadPoolExecutor(SLOTS + SLOTS_WAITING) as pool:
            slots = [False] * SLOTS + [True] * SLOTS_WAITING
            begun = [pool.submit(perform, waits, cache) for waits in slots]
        first = chain.from_iterable(each.result() for each in begun)
        outcomes = [run_again(outcome, without, arguments, cache) for outcome in first]
        if not found["PostgreSQL"].missing:
            migrated_drop()
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.failed + outcome.broken for outcome in outcomes) + (len(left_out) if required else 0)
    for group in left_out:
        print(f"{'Missing, and demanded' if required else 'Left out'}: {group}")
    unsteady = sum(outcome.unsteady for outcome in outcomes)
    print(f"{passed} passed, {failed} failed" + (f", {unsteady} unsteady" if unsteady else ""), flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
