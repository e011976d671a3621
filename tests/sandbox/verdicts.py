"""What becomes of each hostile program at each level: `python -m tests.sandbox.verdicts` writes docs/sandbox.md.

`held`: it got nothing. `ended`: it passed a bound and was ended. `escapes`: it gets what it wants. `own user`: it
escapes, unless the worker is root, as each run then has a user of its own.
"""

from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sandbox.md"
LEVELS = ("isolated", "confined", "process")
HELD, ENDED, ESCAPES, OWN_USER = "held", "ended", "escapes", "own user"
_ALWAYS_HELD, _ALWAYS_ENDED = (HELD, HELD, HELD), (ENDED, ENDED, ENDED)
_BOUNDARY = (HELD, HELD, ESCAPES)
_BY_USER = (HELD, HELD, OWN_USER)

VERDICTS: dict[str, tuple[str, str, str]] = {
    "read_passwords": _ALWAYS_HELD,
    "read_the_hub": _BOUNDARY,
    "read_the_environment": _ALWAYS_HELD,
    "read_other_work": _BOUNDARY,
    "read_descriptors": _ALWAYS_HELD,
    "write_outside": _BOUNDARY,
    "write_the_interpreter": _BY_USER,
    "write_the_root": _ALWAYS_HELD,
    "follow_links": _BOUNDARY,
    "change_modes": _BY_USER,
    "watch_files": _BOUNDARY,
    "connect_tcp": _BOUNDARY,
    "send_udp": _BOUNDARY,
    "connect_unix": _BOUNDARY,
    "connect_abstract": _BOUNDARY,
    "datagrams_of_a_pair": _BOUNDARY,
    "odd_sockets": _BOUNDARY,
    "trace_another": _BY_USER,
    "kill_another": _BY_USER,
    "signal_another_by_a_file": _BY_USER,
    "limit_another": _BY_USER,
    "write_the_first": _ALWAYS_HELD,
    "read_environments": _BY_USER,
    "read_command_lines": _BOUNDARY,
    "privileges": _ALWAYS_HELD,
    "mounts": _ALWAYS_HELD,
    "namespaces": _BOUNDARY,
    "forbidden_calls": _BOUNDARY,
    "many_processes": _ALWAYS_HELD,
    "many_threads": _ALWAYS_HELD,
    "memory": _ALWAYS_ENDED,
    "memory_of_many": _ALWAYS_ENDED,
    "memory_of_headless": _ALWAYS_ENDED,
    "page_tables": _ALWAYS_ENDED,
    "many_mappings": _ALWAYS_ENDED,
    "file_locks": _ALWAYS_ENDED,
    "slow_to_look_at": _ALWAYS_ENDED,
    "socket_buffers": _ALWAYS_ENDED,
    "sockets_in_flight": _ALWAYS_HELD,
    "terminal_buffers": _ALWAYS_HELD,
    "connection_buffers": (ENDED, HELD, ENDED),
    "pipe_buffers": _ALWAYS_HELD,
    "shared_memory": _BOUNDARY,
    "memory_files": _BOUNDARY,
    "processor": _ALWAYS_ENDED,
    "processors": _ALWAYS_ENDED,
    "sleep_on": _ALWAYS_ENDED,
    "deaf": _ALWAYS_ENDED,
    "stop_itself": _ALWAYS_ENDED,
    "daemon": _ALWAYS_HELD,
    "comet": _ALWAYS_HELD,
    "fill_the_folder": _ALWAYS_ENDED,
    "large_file": _ALWAYS_ENDED,
    "many_files": _ALWAYS_ENDED,
    "deep_folders": _ALWAYS_ENDED,
    "nameless_files": _ALWAYS_ENDED,
    "nameless_files_of_headless": _ALWAYS_ENDED,
    "flood_output": _ALWAYS_ENDED,
    "flood_log": _ALWAYS_ENDED,
    "large_core": _ALWAYS_HELD,
}


def table() -> str:
    """The table in Markdown."""
    lines = ["| program | isolated | confined | process |", "|---|---|---|---|"]
    for name, row in VERDICTS.items():
        lines.append(f"| {name.replace('_', ' ')} | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def page_with_table(page: str) -> str:
    """The page with this table in the place of the one that it has."""
    head = table().splitlines()[0]
    before, _, rest = page.partition(head)
    after = rest.partition("\n\n")[2]
    return before + table() + (f"\n{after}" if after else "")


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
