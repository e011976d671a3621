"""Names that could be taken for others."""

import functools
import re
from collections.abc import Collection, Iterator
from pathlib import Path

SHORTEST = 5
_FILE = Path(__file__).with_name("well_known.txt")
_SEPARATORS = re.compile(r"[-_.]+")
_LOOKALIKES = (("0", "o"), ("1", "l"), ("i", "l"), ("5", "s"), ("rn", "m"), ("vv", "w"))
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


@functools.cache
def well_known(heading: str) -> frozenset[str]:
    """The names under a heading of well_known.txt: `requirements` or `packages`."""
    _, _, after = _FILE.read_text(encoding="utf-8").partition(f"[{heading}]\n")
    return frozenset(line for line in after.partition("\n[")[0].splitlines() if line)


def near_name(name: str, others: Collection[str]) -> str | None:
    """The other name that this one could be taken for, or None: one letter changed, added, left out or
    swapped with its neighbour, letters that look alike, or other separators. A plural is no such change.
    """
    if name in others:
        return None
    found = [other for other in others if _is_near(name, other)]
    return min(found, default=None)


def _is_near(name: str, other: str) -> bool:
    if abs(len(name) - len(other)) > 2:
        return False
    bare, bare_other = _bare(name), _bare(other)
    if _looks(bare) == _looks(bare_other):
        return True
    if min(len(bare), len(bare_other)) < SHORTEST or _is_numbered(bare, bare_other):
        return False
    return bare.rstrip("s") != bare_other.rstrip("s") and _is_one_slip(bare, bare_other)


@functools.lru_cache(maxsize=16_384)
def _bare(name: str) -> str:
    return _SEPARATORS.sub("", name.lower())


@functools.lru_cache(maxsize=16_384)
def _looks(bare: str) -> str:
    for written, read in _LOOKALIKES:
        bare = bare.replace(written, read)
    return bare


def _is_numbered(one: str, other: str) -> bool:
    """Whether they differ in digits alone, as http1 and http2 do."""
    return one != other and one.rstrip("0123456789") == other.rstrip("0123456789")


def _is_one_slip(one: str, other: str) -> bool:
    if len(one) > len(other):
        one, other = other, one
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    if len(one) < len(other):
        return one[start:] == other[start + 1 :]
    swapped = other[start : start + 2][::-1] == one[start : start + 2]
    return one[start + 1 :] == other[start + 1 :] or (swapped and one[start + 2 :] == other[start + 2 :])


def requirement_names(text: str) -> Iterator[tuple[int, str]]:
    """The names of the distributions in a requirements file, normalised (PEP 503), with their line."""
    for number, line in enumerate(text.splitlines(), 1):
        found = _REQUIREMENT.match(line)
        if found and not line.startswith((" ", "\t")):
            yield number, _SEPARATORS.sub("-", found[1]).lower()
