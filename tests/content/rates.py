"""The corpus: hostile and harmless arguments by kind of field. `python -m tests.content.rates` prints the rates."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from security.content.check import kind_violations
from security.content.kinds import CHECKED

HERE = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Case:
    """An argument; `type` is the kind of attack that it is, empty for a harmless one."""

    kind: str
    text: str
    source: str
    type: str = ""


@dataclass(frozen=True)
class Rates:
    """How many cases there are, and those that went wrong: hostile ones missed, harmless ones reported."""

    count: int
    wrong: tuple[Case, ...]

    @property
    def share(self) -> float:
        return len(self.wrong) / self.count


def hostile() -> Iterator[Case]:
    """Lines `type text`; a line `# …` names the source of those below."""
    for kind in CHECKED:
        source = ""
        for line in (HERE / "hostile" / f"{kind}.txt").read_text(encoding="utf-8").splitlines():
            if line.startswith("# "):
                source = line[2:]
            elif line:
                name, _, text = line.partition(" ")
                yield Case(kind, text, source, name)


def harmless(*kinds: str) -> Iterator[Case]:
    """As `tests/content/gather.py` gathered them."""
    for kind in kinds or CHECKED:
        for line in (HERE / "harmless" / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines():
            yield Case(kind, **json.loads(line))


def missed() -> Rates:
    cases = list(hostile())
    return Rates(len(cases), tuple(case for case in cases if not list(kind_violations(case.kind, case.text))))


def alarmed() -> Rates:
    cases = list(harmless())
    return Rates(len(cases), tuple(case for case in cases if list(kind_violations(case.kind, case.text))))


def main() -> None:
    """Prints the rates, by kind, and what went wrong."""
    lines = []
    for name, rates, cases in (("missed", missed(), hostile()), ("false alarm", alarmed(), harmless())):
        wrong, all_of = Counter(case.kind for case in rates.wrong), Counter(case.kind for case in cases)
        lines.append(f"{name}: {len(rates.wrong)} of {rates.count} ({rates.share:.2%})")
        lines += [f"  {kind}: {wrong[kind]} of {count}" for kind, count in all_of.items()]
        lines += [f"    {case.kind}: {case.text[:100]!r}" for case in rates.wrong]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
