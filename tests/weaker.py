"""A machine that gives less than this one: for processes that tests start with TESTS_LEVEL."""

import os

from django.apps import AppConfig

from security.sandbox import probes, remedies
from security.sandbox.levels import Level


class Weaker(AppConfig):
    """No bubblewrap, and for the level process no Landlock either: the probes find that out by themselves."""

    name, label = "tests.weaker", "weaker"

    def ready(self) -> None:
        level = Level(os.environ["TESTS_LEVEL"])
        if level is not Level.ISOLATED:
            for module in (probes, remedies):
                module.bubblewrap = lambda: None
        if level is Level.PROCESS:
            probes.PROMISED[Level.CONFINED] = {"reads": True}
