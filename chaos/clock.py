"""Processes whose wall clock is wrong, by libfaketime."""

import os
from pathlib import Path

from bench.server import ROOT

# Python finds sitecustomize.py there.
WRONG = Path(__file__).with_name("wrong_clock")


def clock_library() -> Path | None:
    """Where libfaketime is; None where it is not installed."""
    return next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)


def clock(offset: str) -> dict[str, str]:
    """The environment of a process whose wall clock is off, such as by "+2h".

    libfaketime cannot let it jump while the process sleeps.
    """
    return {
        "LD_PRELOAD": str(clock_library()),
        "FAKETIME": offset,
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "PYTHONPATH": os.pathsep.join([str(WRONG), str(ROOT)]),
    }
