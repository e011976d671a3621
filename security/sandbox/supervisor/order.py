"""What the worker orders: a header and a run of bytes, both with their lengths before them.

Both sides are the same interpreter, so the header is marshalled: importing json took half of a start.
"""

import marshal
import os
import struct

_LENGTHS = struct.Struct("=2I")


class Order:
    """A launch with everything decided: paths of this machine, numbers, and the program of the filter.

    `goodbye` lets a program that waits for its input end by itself, once it is not wanted any more.
    `tree` lists the machine's own folders that a program needs, `mounts` host path, path inside, whether it
    may be written, and its most bytes. `work` is the work folder on this machine (empty where the level makes
    its own). `group` is the control group to make, empty for none, with `controllers`, and `cpus` bounds the
    cores (0 for all). `secrets` says whether the program gets any; what they are comes with its input.
    `prepare` is the code of a zygote, empty for a program of its own; `python` says that the program is a
    Python with code of the hub after "-c". `marks` says that the program writes a line end to its output when
    the tool's code begins; one that begins with other output never began. `network` is where a socket of the
    tool's network goes, or -1.
    """

    def __init__(self, header: dict, program: bytes) -> None:  # type: ignore[type-arg]
        self.level: str = header["level"]
        self.argv: list[str] = header["argv"]
        self.environment: dict[str, str] = header["environment"]
        self.bubblewrap: str = header["bubblewrap"]
        self.cwd: str = header["cwd"]
        self.tree: list[str] = header["tree"]
        self.mounts: list[tuple[str, str, bool, int | None]] = header["mounts"]
        self.work: str = header["work"]
        self.group: str = header["group"]
        self.controllers: tuple[str, ...] = header["controllers"]
        self.cpus: int = header["cpus"]
        self.limits: dict[str, float] = header["limits"]
        self.as_root: bool = header["as_root"]
        self.proc: bool = header["proc"]
        self.goodbye: bool = header["goodbye"]
        self.secrets: bool = header["secrets"]
        self.prepare: str = header["prepare"]
        self.python: bool = header["python"]
        self.marks: bool = header["marks"]
        self.network = -1
        self.program = program


def order_pack(header: dict, program: bytes) -> bytes:  # type: ignore[type-arg]
    """The bytes that `order_read` reads."""
    parts = (marshal.dumps(header), program)
    return _LENGTHS.pack(*map(len, parts)) + b"".join(parts)


def order_take(descriptor: int) -> bytes:
    """Reads an order to its end and no further. Raises EOFError where the worker is gone."""
    head = read_whole(descriptor, _LENGTHS.size)
    return head + read_whole(descriptor, sum(_LENGTHS.unpack(head)))


def order_read(ordered: bytes) -> Order:
    """What an order says."""
    length, _ = _LENGTHS.unpack_from(ordered)
    begin = _LENGTHS.size + length
    header = marshal.loads(ordered[_LENGTHS.size : begin])  # noqa: S302 - the worker wrote it
    return Order(header, ordered[begin:])


def read_whole(descriptor: int, length: int) -> bytes:
    """Just so many bytes. Raises EOFError."""
    parts = []
    while length:
        part = os.read(descriptor, min(length, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
