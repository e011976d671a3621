"""The hub's own settings, with the fixture tools as the catalogue: for processes that tests start."""

import os

from toolhub.settings import *  # noqa: F403
from toolhub.settings import INSTALLED_APPS

CATALOGUE = "tests.fixture_catalogue"
if "TESTS_LEVEL" in os.environ:
    INSTALLED_APPS = [*INSTALLED_APPS, "tests.weaker.Weaker"]
