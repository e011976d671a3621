"""The hub's own settings, with the fixture tools as the catalogue: for processes that tests start."""

from toolhub.settings import *  # noqa: F403

CATALOGUE = "tests.fixture_catalogue"
