"""Whether a port can be listened on, and if not, who has it."""

import errno
import os
import socket
from pathlib import Path


class PortError(Exception):
    """The message is a sentence for the person who starts the hub."""


def port_check(host: str, port: int) -> None:
    """Raises PortError when the hub could not listen on `host`:`port`."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, OverflowError) as error:
        raise PortError(f"{host}:{port} is no address that this machine knows.") from error
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen(1)
        except OSError as error:
            raise PortError(_sentence(host, port, error)) from error


def _sentence(host: str, port: int, error: OSError) -> str:
    other = f"make run PORT={port + 1}" if port < 65535 else "make run PORT=8000"
    if error.errno == errno.EADDRINUSE:
        holder = port_holder(port)
        by = f"by {holder}" if holder else "by another program"
        return f"Port {port} is taken {by}. Stop that, or choose another port: {other}"
    if error.errno == errno.EACCES:
        return (
            f"Port {port} is for the administrator of this machine. Choose one above 1023: make run PORT=8000"
        )
    return f"Cannot listen on {host}:{port} ({error.strerror}). Choose another HOST or PORT."


def port_holder(port: int) -> str | None:
    """The program that listens on a TCP port, such as `python3 (process 4711)`; None when not to be seen."""
    sockets = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            rows = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, rows):
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                sockets.add(f"socket:[{fields[9]}]")
    for process in Path("/proc").glob("[0-9]*") if sockets else ():
        try:
            if any(os.readlink(file) in sockets for file in (process / "fd").iterdir()):
                return f"{(process / 'comm').read_text().strip()} (process {process.name})"
        except OSError:
            continue
    return None
