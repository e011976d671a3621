"""The hash order and time zone of tools that promise to repeat themselves: the same in every process."""

import re
from collections.abc import Mapping, Sequence

SEEDS = tuple(range(10))
"""Seeds of the hash order with which a self-test calls such a tool, each in a fresh process.

A seed turns the order of two words of a set around half of the time. With ten seeds, one such set in 500
keeps its order in all of them; with three, one in four does.
"""
FEW = 3
"""So many of them do where neither the code nor the tool's time asks for more."""
# A call that works for CHEAP_MS or less is repeated for all seeds in any case, for more than SLOW_MS never.
CHEAP_MS, SLOW_MS = 30, 500
ADVICE = "Sort what comes from a set, and take time and chance from the context."

_SCANNED_MOST = 2_000_000
_SCRIPT = re.compile(rb"#![^\n]{0,200}\b(?:python|perl)")
_PERL = re.compile(rb"#![^\n]{0,200}\bperl")
# Where the order of a set, of an operation on the keys of dictionaries, or a hash may begin to matter: more
# than there is, as strings and comments are not told apart. Sets that are sorted or counted at once are none.
_ORDERED = re.compile(
    rb"(?<![\w.])(?<!sorted\()(?<!len\()(?<!sum\()(?<!min\()(?<!max\()(?<!any\()(?<!all\()"
    rb"(?:set|frozenset|hash)[ \t]*[(,)\]]"
    rb"|=[ \t]*(?:set|frozenset)[ \t]*[\r\n]"
    rb"|(?<!in )\{[^{}:\n]{0,200}(?:,[^{}:\n]{0,200}|[ \t]for[ \t][^{}:\n]{0,200})\}"
    rb"|\bfor [\w, ()]{1,80} in \{[^{}:\n]{0,200}\}"
    rb"|\.keys\(\)[ \t]*[-&|^]|[-&|^][ \t]*[\w.]{1,80}\.keys\(\)"
    rb"|\.(?:union|intersection|difference|symmetric_difference)\("
)


def seeds_for(files: Mapping[str, bytes], cpu_ms: float) -> Sequence[int]:
    """The seeds for a tool whose first call worked for `cpu_ms`; `files` are its package's (path → bytes).

    All, where a call is cheap or the order of sets may show; else the first few.
    """
    return SEEDS if cpu_ms <= CHEAP_MS or (cpu_ms <= SLOW_MS and order_may_show(files)) else SEEDS[:FEW]


def order_may_show(files: Mapping[str, bytes]) -> bool:
    """Whether code of a package in Python or Perl may depend on the hash order. Linear in the files' size."""
    scripts = {path: code for path, code in files.items() if _is_script(path, code)}
    if sum(map(len, scripts.values())) > _SCANNED_MOST:
        return True
    return any(_is_perl(path, code) or _ORDERED.search(code) for path, code in scripts.items())


def _is_script(path: str, code: bytes) -> bool:
    return path.endswith((".py", ".pl", ".pm")) or _SCRIPT.match(code) is not None


def _is_perl(path: str, code: bytes) -> bool:
    """Perl's hashes have no order of their own, and they are everywhere."""
    return path.endswith((".pl", ".pm")) or _PERL.match(code) is not None


def repeatable_variables(determinism: str, seed: int = 0) -> dict[str, str]:
    """The variables for a deterministic or bounded tool; none for others.

    Python and Perl choose the order of sets and hashes by chance unless these name a seed. Calls have the
    seed 0. The self-test also tries others, because another version of the language has another order, too.
    Node keeps the order of insertion. With UTC, local times do not depend on the machine.
    """
    if determinism == "non_deterministic":
        return {}
    return {
        "PYTHONHASHSEED": str(seed),
        "PERL_HASH_SEED": str(seed),
        "PERL_PERTURB_KEYS": "0",
        "TZ": "UTC",
    }
