"""A bare repository of a few KB, one file of which takes hundreds of MB when its delta is applied.

The pack and its index are written by hand (gitformat-pack), so that the test itself never holds the file.
"""

import hashlib
import struct
import zlib
from pathlib import Path

COPY = 0xFFFFFF
_COMMIT, _TREE, _BLOB, _REF_DELTA = 1, 2, 3, 7


def bomb(folder: Path, copies: int) -> int:
    """Makes the repository, with `main`; returns the size of its large file in bytes."""
    size = COPY * copies
    base = _Object(_BLOB, bytes(COPY))
    delta = _varint(COPY) + _varint(size) + (b"\xf0" + COPY.to_bytes(3, "little")) * copies
    large = _Object(_REF_DELTA, delta, name=_blob_of_zeros(size), base=base.name)
    tree = _Object(_TREE, b"100644 a\0" + base.name + b"100644 b\0" + large.name)
    who = b"author <author@example.org> 1700000000 +0000"
    commit = _Object(
        _COMMIT, b"tree %s\nauthor %s\ncommitter %s\n\nx\n" % (tree.name.hex().encode(), who, who)
    )
    packs = folder / "objects" / "pack"
    packs.mkdir(parents=True)
    (folder / "refs" / "heads").mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
    (folder / "refs" / "heads" / "main").write_text(f"{commit.name.hex()}\n")
    _pack_write(packs, [base, large, tree, commit])
    return size


class _Object:
    def __init__(self, kind: int, content: bytes, name: bytes = b"", base: bytes = b"") -> None:
        word = {_COMMIT: b"commit", _TREE: b"tree", _BLOB: b"blob"}.get(kind, b"")
        self.name = name or hashlib.sha1(word + b" %d\0" % len(content) + content).digest()
        size, head = len(content), []
        byte = (kind << 4) | (size & 15)
        size >>= 4
        while size:
            head.append(byte | 0x80)
            byte, size = size & 0x7F, size >> 7
        self.packed = bytes([*head, byte]) + base + zlib.compress(content)


def _blob_of_zeros(size: int) -> bytes:
    digest, block = hashlib.sha1(b"blob %d\0" % size), bytes(1 << 20)
    for _ in range(size >> 20):
        digest.update(block)
    digest.update(bytes(size & ((1 << 20) - 1)))
    return digest.digest()


def _varint(number: int) -> bytes:
    parts = []
    while number > 0x7F:
        parts.append((number & 0x7F) | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _pack_write(folder: Path, objects: list[_Object]) -> None:
    content, places = b"PACK" + struct.pack(">II", 2, len(objects)), {}
    for each in objects:
        places[each.name] = (len(content), zlib.crc32(each.packed))
        content += each.packed
    trailer = hashlib.sha1(content).digest()
    names = sorted(places)
    index = b"\xfftOc" + struct.pack(">I", 2)
    index += b"".join(struct.pack(">I", sum(name[0] <= byte for name in names)) for byte in range(256))
    index += b"".join(names)
    index += b"".join(struct.pack(">I", places[name][1]) for name in names)
    index += b"".join(struct.pack(">I", places[name][0]) for name in names) + trailer
    index += hashlib.sha1(index).digest()
    (folder / f"pack-{trailer.hex()}.pack").write_bytes(content + trailer)
    (folder / f"pack-{trailer.hex()}.idx").write_bytes(index)
