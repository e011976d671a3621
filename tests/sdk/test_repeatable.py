"""The seeds of the hash order: that sets of few words do not pass by chance, and where all seeds are worth it."""

import os
import random
import string
import subprocess
import sys

import pytest

from toolhub_sdk.repeatable import CHEAP_MS, FEW, SEEDS, SLOW_MS, order_may_show, seeds_for

# Says, for each line of words, in which order their set has them.
ORDERS = "import sys\nfor line in sys.stdin: print(*set(line.split()))"


def common_words() -> list[str]:
    """Words as people write them, and words of chance of the same lengths."""
    text = (
        "a an the and or red green blue one two three yes no name value key id north south east west up down"
    )
    chance = random.Random(7)
    made = ["".join(chance.choices(string.ascii_lowercase, k=chance.randint(2, 9))) for _ in range(300)]
    return [*text.split(), *made]


def kept_by_all(lines: list[str], seeds: tuple[int, ...]) -> float:
    """The part of the sets whose order is the same with each seed."""
    orders = [
        subprocess.run(
            [sys.executable, "-S", "-c", ORDERS],
            input="\n".join(lines),
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for seed in seeds
    ]
    return sum(len(set(each)) == 1 for each in zip(*orders, strict=True)) / len(lines)


@pytest.mark.parametrize("size", [2, 3])
def test_of_a_hundred_sets_of_few_words_fewer_than_one_keeps_its_order(size: int) -> None:
    chance, words = random.Random(size), common_words()
    lines = [" ".join(chance.sample(words, size)) for _ in range(20_000)]
    assert kept_by_all(lines, SEEDS) < 0.01
    if size == 2:
        assert kept_by_all(lines, SEEDS[:FEW]) > 0.2  # which is why there are more


SHOWS = [
    "return ' '.join(set(text.split()))",
    "words = {word for word in text.split()}",
    "for name in {first, second}:",
    "kinds = frozenset(names)",
    "return list(map(set, rows))",
    "make = set\nreturn list(make(rows))",
    "return hash(text) % 7",
    "return list(a.keys() & b.keys())",
    "return list(a.keys() - seen)",
    "return list(one.union(other))",
    "defaultdict(set)",
]
HIDES = [
    "return sorted(set(text.split()))",
    "return len(set(rows)) + max(set(rows))",
    "return word in {'a', 'b'}",
    "return {'a': 1, 'b': 2}",
    "return {key: value for key, value in rows}",
    "context.memory.set('a', 1)",
    "rows: set[str]",
    "# a set of words",
    "return ' '.join(dict.fromkeys(text.split()))",
]


@pytest.mark.parametrize("code", SHOWS)
def test_code_whose_order_may_show(code: str) -> None:
    assert order_may_show({"tool.py": code.encode()})
    assert not order_may_show({"tool.js": code.encode(), "README.md": code.encode()})


@pytest.mark.parametrize("code", HIDES)
def test_code_whose_order_does_not_show(code: str) -> None:
    assert not order_may_show({"tool.py": code.encode()})


def test_scripts_are_known_by_their_first_line_and_perl_always_counts() -> None:
    assert order_may_show({"run": b"#!/usr/bin/env python3\nprint(*set(input()))\n"})
    assert not order_may_show({"run": b"#!/bin/sh\nset (x)\n"})
    assert order_may_show({"run": b"#!/usr/bin/perl\nprint 1;\n"})
    assert order_may_show({"tool.pl": b"print 1;\n"})
    assert order_may_show({"tool.py": b"x = 1\n" * 500_000})


def test_many_seeds_are_for_cheap_calls_and_for_code_whose_order_may_show() -> None:
    shows, hides = {"tool.py": SHOWS[0].encode()}, {"tool.py": HIDES[0].encode()}
    assert seeds_for(hides, CHEAP_MS) == SEEDS
    assert seeds_for(hides, CHEAP_MS + 1) == SEEDS[:FEW]
    assert seeds_for(shows, SLOW_MS) == SEEDS
    assert seeds_for(shows, SLOW_MS + 1) == SEEDS[:FEW]
