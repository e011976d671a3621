"""Carries a program out once for each seed of the hash order, inside the sandbox, and compares the results.

The arguments are how results are read (`line` or `whole`), the seeds with commas between them, and the words
of the program's command line. Each gets the same input and the same secrets, and a work folder of its own.
The output is `{"first": result}`, with the first `"seed"` whose result differs or is missing. It knows the
standard library alone.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

SECRETS = "TOOLHUB_SECRETS_FD"
# So many run at the same time.
WIDTH = 3


def main(reads: str, seeds: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
    """Compare the results of all seeds: the report above."""
    report: dict[str, Any] = {}
    for seed, output in _outputs(seeds, words):
        result = _result(reads, output)
        if result is None:
            return {**report, "seed": int(seed)}
        if not report:
            report = {"first": result[0]}
        elif _text(result[0]) != _text(report["first"]):
            return {**report, "seed": int(seed)}
    return report


def _outputs(seeds: Sequence[str], words: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """What the program writes for each seed, in their order; nothing where it fails."""
    home, secrets = os.environ["HOME"], _secrets()
    request = os.path.join(home, "request")
    with open(request, "wb") as file:
        file.write(sys.stdin.buffer.read())
    begun: list[tuple[str, subprocess.Popen[bytes]]] = []
    left = list(seeds)
    while left or begun:
        while left and len(begun) < WIDTH:
            begun.append((left[0], _begin(words, left.pop(0), home, request, secrets)))
        seed, program = begun.pop(0)
        output, _ = program.communicate()
        yield seed, b"" if program.returncode else output


def _secrets() -> bytes | None:
    """What the hub gives the program on a descriptor, which can be read once."""
    descriptor = os.environ.get(SECRETS)
    if not descriptor:
        return None
    with open(int(descriptor), "rb") as stream:
        return stream.read()


def _begin(
    words: Sequence[str], seed: str, home: str, request: str, secrets: bytes | None
) -> "subprocess.Popen[bytes]":
    own = os.path.join(home, f"seed-{seed}")
    os.mkdir(own)
    seen = {**os.environ, "PYTHONHASHSEED": seed, "PERL_HASH_SEED": seed, "HOME": own, "TMPDIR": own}
    passed = []
    if secrets is not None:
        read, write = os.pipe()
        os.write(write, secrets)  # a pipe takes as much as the hub allows
        os.close(write)
        seen[SECRETS], passed = str(read), [read]
    folder = own if os.path.samefile(".", home) else None
    with open(request, "rb") as stdin:
        program = subprocess.Popen(
            words, stdin=stdin, stdout=subprocess.PIPE, env=seen, cwd=folder, pass_fds=passed
        )
    for descriptor in passed:
        os.close(descriptor)
    return program


def _result(reads: str, output: bytes) -> list[Any] | None:
    """The program's result in a list; None where it gave none."""
    try:
        if reads == "whole":
            return [json.loads(output)]
        return [json.loads(output.rpartition(b"\n")[0].rpartition(b"\n")[2])["result"]]
    except (ValueError, KeyError, TypeError):
        return None


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2].split(","), sys.argv[3:])))
