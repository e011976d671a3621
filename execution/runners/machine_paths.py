"""Paths of this machine in what a tool prints, logs or fails with: callers get a short name in their place.

A traceback names the files of the interpreter, of the hub and of its data folder. Where a sandbox has its own
view of files, the package stands under /toolhub, which tells nobody anything.
"""

import functools
import re
import sys
import sysconfig
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from execution.engine.call import Call, unsaid


def told(call: Call, said: Any) -> Any:
    """A text or JSON value of a tool without secrets and without paths of this machine."""
    return paths_hidden(unsaid(call, said))


def paths_hidden(value: Any) -> Any:
    """The value with `<hub>`, `<data>`, `<python>` or `<site-packages>` in place of those folders."""
    if isinstance(value, str):
        names, pattern = _folders()
        return pattern.sub(lambda found: names[found.group()], value)
    if isinstance(value, Mapping):
        return {name: paths_hidden(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [paths_hidden(one) for one in value]
    return value


@functools.cache
def _folders() -> tuple[Mapping[str, str], re.Pattern[str]]:
    names = {
        str(settings.ROOT): "<hub>",
        str(settings.DATA): "<data>",
        sys.prefix: "<python>",
        sysconfig.get_path("stdlib"): "<python>",
        sysconfig.get_path("purelib"): "<site-packages>",
    }
    # The longest first; `/` and `/usr` would be in every path.
    folders = sorted((each for each in names if each.count("/") > 1), key=len, reverse=True)
    return names, re.compile(f"(?:{'|'.join(map(re.escape, folders))})(?=/|$|[\"'\\s])")
