"""What `manage.py up` sets before the settings are read: all of the hub's processes come of this one."""

import os
from argparse import ArgumentParser
from collections.abc import Sequence

from toolhub import env

# All addresses of a machine are reached at its own.
OWN = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104


def arguments_add(parser: ArgumentParser) -> None:
    """Where the hub listens."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (default 8000)")


def environment_set(arguments: Sequence[str]) -> None:
    """Sets what is not set yet; `arguments` are those of `up`."""
    parser = ArgumentParser(add_help=False)
    arguments_add(parser)
    given, _ = parser.parse_known_args(arguments)
    data = env.data_folder()
    os.environ["TOOLHUB_DATA"] = str(data)
    os.environ.setdefault("TOOLHUB_URL", address(given.host, given.port))
    # Counters look for it when they are made.
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(data / "metrics"))


def address(host: str, port: int) -> str:
    """What listens on `host`, as this machine reaches it."""
    return f"http://{OWN.get(host, f'[{host}]' if ':' in host else host)}:{port}"
