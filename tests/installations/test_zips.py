"""Hostile archives are refused, and nothing is written where they say."""

import io
import stat
import time
import zipfile
from collections.abc import Callable

import pytest

from core.errors import ToolHubError
from registry.archives import zips
from registry.archives.contents import FILES_MAX
from registry.archives.zips import zip_read, zip_write


def archive(*entries: tuple[str, bytes], mode: int = stat.S_IFREG | 0o644) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries:
            entry = zipfile.ZipInfo(name)
            entry.create_system, entry.external_attr = 3, mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, content)
    return out.getvalue()


def patched(change: Callable[[bytes], bytes]) -> bytes:
    return change(archive(("toolhub.json", b"{}"), ("aaaa", b"x")))


# Made when its turn is: some take long.
HOSTILE: dict[str, Callable[[], bytes]] = {
    "up and away": lambda: archive(("../etc/passwd", b"x")),
    "up in the middle": lambda: archive(("a/../../b", b"x")),
    "absolute": lambda: archive(("/etc/passwd", b"x")),
    "Windows' drive": lambda: archive(("C:/x", b"x")),
    "Windows' way": lambda: archive(("a\\..\\b", b"x")),
    "symbolic link": lambda: archive(("a", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777),
    "FIFO": lambda: archive(("a", b""), mode=stat.S_IFIFO | 0o644),
    "device": lambda: archive(("a", b""), mode=stat.S_IFCHR | 0o644),
    "1 GiB from 1 MiB": lambda: archive(("a", bytes(1 << 30))),
    "packed beyond reason": lambda: archive(("a", bytes(8 << 20))),
    "too many files": lambda: archive(*((f"f{n}", b"") for n in range(FILES_MAX + 1))),
    "twice, in two cases": lambda: archive(("a.py", b"1"), ("A.py", b"2")),
    "a file that is a folder": lambda: archive(("a", b"1"), ("a/b", b"2")),
    "control characters": lambda: archive(("a\x1b[2J", b"x")),
    "bidi": lambda: archive(("a\u202efdp.py", b"x")),
    "device of another system": lambda: archive(("con.txt", b"x")),
    "a dot at the end": lambda: archive(("a.", b"x")),
    "very deep": lambda: archive(("/".join("d" * 20), b"x")),
    "very long": lambda: archive(("n" * 241, b"x")),
    "not a zip": lambda: b"PK\x03\x04 but no more",
    "empty": lambda: b"",
    "damaged": lambda: patched(lambda raw: raw[:40] + b"\xff" * 8 + raw[48:]),
    "cut": lambda: patched(lambda raw: raw[: len(raw) // 2]),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_archive_is_refused(make: Callable[[], bytes]) -> None:
    raw = make()
    with pytest.raises(ToolHubError) as refused:
        zip_read(raw)
    assert refused.value.code == "PACKAGE_REFUSED"


def test_an_archive_of_too_many_entries_is_refused_before_it_is_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # 500,000 entries of 46 bytes and a name in the central directory, which says that there is one.
    entry = b"PK\x01\x02" + bytes(24) + (1).to_bytes(2, "little") + bytes(16) + b"a"
    for count in (1, 20_000):
        directory = entry * 500_000
        end = b"PK\x05\x06" + bytes(4) + count.to_bytes(2, "little") * 2
        raw = (
            directory
            + end
            + len(directory).to_bytes(4, "little")
            + bytes(4)
            + (3).to_bytes(2, "little")
            + b"end"
        )
        monkeypatch.setattr(zips.zipfile, "ZipFile", None)
        began = time.monotonic()
        with pytest.raises(ToolHubError) as refused:
            zip_read(raw)
        assert "entries" in refused.value.message
        assert time.monotonic() - began < 1


def test_the_form_for_very_large_archives_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    raw = archive(("a", b"1"), ("b", b"2"))
    assert b"PK\x06\x07" in raw
    with pytest.raises(ToolHubError) as refused:
        zip_read(raw)
    assert "4 GiB" in refused.value.message


def test_a_size_that_lies_is_not_believed() -> None:
    raw = archive(("a", b"x" * 5000))
    # The central directory says 1 byte (APPNOTE 4.3.12: uncompressed size at offset 24).
    at = raw.rindex(b"PK\x01\x02")
    lied = raw[: at + 24] + (1).to_bytes(4, "little") + raw[at + 28 :]
    with pytest.raises(ToolHubError):
        zip_read(lied)


def test_an_encrypted_entry_is_refused() -> None:
    raw = bytearray(archive(("a", b"x" * 50)))
    at = raw.rindex(b"PK\x01\x02")
    raw[at + 8] |= 1
    with pytest.raises(ToolHubError) as refused:
        zip_read(bytes(raw))
    assert "encrypted" in refused.value.message


def test_what_a_checkout_leaves_behind_is_left_out_and_one_folder_around_all_is_taken_off() -> None:
    raw = archive(
        ("pkg-1/toolhub.json", b"{}"), ("pkg-1/.git/config", b"x"), ("pkg-1/a/__pycache__/a.pyc", b"x")
    )
    assert zip_read(raw) == {"toolhub.json": b"{}"}


def test_a_thousand_files_come_back_as_they_were_and_always_as_the_same_bytes() -> None:
    contents = {f"folder{n % 10}/file{n}.txt": f"{n}".encode() for n in range(1000)} | {"toolhub.json": b"{}"}
    raw = zip_write(contents)
    assert zip_read(raw) == contents
    assert zip_write(dict(reversed(contents.items()))) == raw
