"""Names that somebody may have meant."""

import difflib
import re
from collections.abc import Iterable
from itertools import islice

KNOWN_MOST = 1_000
LENGTH_MOST = 64
_CUTOFF = 0.6
# Model providers and clients put a server or a package before a tool's name.
_PREFIX = re.compile(r"__|[.:/]")


def near_names(given: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return up to `most` of the known names that are like the given one, the likeliest first.

    Case, dashes, underscores and a prefix such as `functions.` or `package__` do not count. Compares at most
    1,000 names by their first 64 characters, so the cost is bounded.
    """
    names = list(islice(known, KNOWN_MOST))
    by_plain: dict[str, str] = {}
    for name in names:
        by_plain.setdefault(plain_name(name[:LENGTH_MOST]), name)
    cut = given[-LENGTH_MOST:]
    tail = _PREFIX.split(cut)[-1]
    forms = [plain_name(form) for form in (given[:LENGTH_MOST], tail)]
    found = [by_plain[form] for form in forms if form and form in by_plain]
    words = {form: _words(form) for form in (cut, tail)}
    found += [name for name in names if _words(name) in words.values()]
    wanted = plain_name(tail)
    if len(wanted) > 2:
        within = [plain for plain in by_plain if _is_end(plain, wanted) or _is_end(wanted, plain)]
        found += [
            by_plain[plain] for plain in sorted(within, key=lambda plain: abs(len(plain) - len(wanted)))
        ]
    if not found:
        for form in dict.fromkeys(forms):
            found += [by_plain[plain] for plain in difflib.get_close_matches(form, by_plain, most, _CUTOFF)]
    return list(dict.fromkeys(found))[:most]


def _is_end(long: str, short: str) -> bool:
    return len(short) > 1 and (long.startswith(short) or long.endswith(short))


def plain_name(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _words(name: str) -> frozenset[str]:
    """The words of a name, such as web and search for `webSearch` and `search_web`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name[:LENGTH_MOST])
    return frozenset(re.findall(r"[a-z0-9]+", spaced.lower()))


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return ` Did you mean "x"?` for the likeliest known names; empty where none is like it."""
    near = [f'"{name}"' for name in near_names(given, known)]
    return f" Did you mean {' or '.join(near)}?" if near else ""
