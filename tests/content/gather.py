"""Gathers the corpus of harmless arguments anew: `python -m tests.content.gather`.

All of it is real: this repository's own paths, statements, addresses, texts and code, the SQL of the migrations
of the apps that it installs, addresses that the packages in its environment name as their pages, paths of the
filesystem hierarchy, and commands as its Makefile, docs and `commands.txt` have them.
"""

import importlib.metadata
import io
import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
HARMLESS = Path(__file__).parent / "corpus" / "harmless"
LONGEST = 4000
Found = Iterable[tuple[str, str]]


def own_files(*patterns: str) -> list[str]:
    """Paths that git knows, below the root."""
    said = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [path for path in said.stdout.splitlines() if not path.startswith("tests/content/")]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def every(items: list[str], count: int) -> list[str]:
    """So many of them, evenly spread."""
    return items[:: max(1, len(items) // count)][:count]


def paths() -> Found:
    """Of this repository, of Python's library, and of the filesystem hierarchy."""
    yield from (("paths of this repository", path) for path in every(own_files(), 170))
    library = Path(sysconfig.get_path("stdlib"))
    files = sorted(str(path.relative_to(library)) for path in library.glob("[a-z]*/*.py"))
    yield from (
        ("files of Python's standard library", f"/usr/lib/python3/{path}") for path in every(files, 60)
    )
    shared = sorted(str(path) for path in Path("/usr/share").glob("*/*") if path.is_file() or path.is_dir())
    yield from (("files that a Debian installation shares", path) for path in every(shared, 60))
    yield from named("paths.txt")


def commands() -> Found:
    """Recipes of the Makefile, shell lines of docs and scripts, and lines written by hand."""
    for path in ("Makefile", *own_files("*.md", "bin/*", ".github/*")):
        yield from (("shell lines of this repository", line) for line in shell_lines(path))
    yield from named("commands.txt")


def shell_lines(path: str) -> Iterator[str]:
    text = read(path)
    if path == "Makefile":
        yield from (line.strip().lstrip("@") for line in text.splitlines() if line.startswith("\t"))
    for block in re.findall(r"```(?:sh|bash|console)\n(.*?)```", text, re.DOTALL):
        lines = block.replace("\\\n", " ").splitlines()
        yield from (
            line.strip().removeprefix("$ ") for line in lines if line.strip() and not line.startswith("#")
        )
    yield from (
        line.strip().removeprefix("$ ")
        for line in re.findall(r"^    (\$ .*|git .*|curl .*)$", text, re.MULTILINE)
    )


def queries() -> Found:
    """The SQL of the migrations of the installed apps, by Django; and queries written by hand."""
    import django  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolhub.settings")
    django.setup()
    from django.db import connection  # noqa: PLC0415
    from django.db.migrations.loader import MigrationLoader  # noqa: PLC0415

    for app, name in sorted(MigrationLoader(connection).disk_migrations):
        out = io.StringIO()
        call_command("sqlmigrate", app, name, stdout=out, stderr=io.StringIO())
        text = re.sub(r"^--$\n?", "", out.getvalue(), flags=re.MULTILINE).strip()
        if "CREATE TRIGGER" not in text:
            yield f"sqlmigrate {app}", text
        yield from ((f"sqlmigrate {app}", line) for line in every(text.splitlines(), 6) if line.endswith(";"))
    yield from named("queries.txt")


def addresses() -> Found:
    """Addresses in this repository's texts, and the pages that installed packages name as theirs."""
    found: dict[str, str] = {}
    for path in own_files("*.md", "*.html", "*.py", "*.toml", "*.json"):
        if path.startswith("tests/"):  # tests speak of hostile addresses
            continue
        for url in re.findall(r"https?://[A-Za-z0-9.-]+\.[a-z]{2,}[^\s\"'<>)\]}`\\,;{]*", read(path)):
            found.setdefault(url.rstrip("."), "addresses in this repository")
    for package in importlib.metadata.distributions():
        for value in package.metadata.get_all("Project-URL") or ():
            url = value.partition(",")[2].strip()
            if url.startswith("http"):
                found.setdefault(url, "pages of installed packages")
    yield from ((source, url) for url, source in sorted(found.items()))
    yield from named("addresses.txt")


def markup() -> Found:
    """This repository's docs as HTML, piece by piece."""
    from markdown_it import MarkdownIt  # noqa: PLC0415

    render = MarkdownIt("commonmark").enable("table").render
    for path in own_files("*.md"):
        for piece in every([part for part in re.split(r"\n(?=#)", read(path)) if part.strip()], 5):
            yield f"{path} as HTML", render(piece)
    yield from named("markup.txt")


def prose() -> Found:
    for path in own_files("*.md"):
        pieces = [part.strip() for part in read(path).split("\n\n") if len(part) > 80]
        yield from ((path, piece) for piece in every(pieces, 8))


def code() -> Found:
    for path in every(own_files("*.py"), 150):
        pieces = [part.strip() for part in re.split(r"\n\n\n", read(path)) if len(part) > 80]
        yield from ((path, piece) for piece in every(pieces, 1))


def named(file: str) -> Found:
    """Lines of a file beside this one; a line `# …` names the source of those below."""
    source = ""
    for line in (HARMLESS / "written" / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            source = line[2:]
        elif line:
            yield source, line


KINDS = {
    "path": paths,
    "command": commands,
    "sql": queries,
    "url": addresses,
    "html": markup,
    "text": prose,
    "code": code,
}


def main() -> None:
    """Writes a file for each kind, a line for each argument."""
    for kind, gather in KINDS.items():
        kept: dict[str, str] = {}
        for source, text in gather():
            if text and len(text) <= LONGEST and str(ROOT) not in text:
                kept.setdefault(text, source)
        lines = [
            json.dumps({"source": source, "text": text}, ensure_ascii=False) for text, source in kept.items()
        ]
        (HARMLESS / f"{kind}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        sys.stdout.write(f"{kind}: {len(lines)}\n")


if __name__ == "__main__":
    main()
