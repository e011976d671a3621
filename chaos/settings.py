"""The hub's own settings, with tools whose traces the world keeps as the catalogue."""

from toolhub.settings import *  # noqa: F403
from toolhub.settings import INSTALLED_APPS as HUB_APPS

INSTALLED_APPS = [*HUB_APPS, "chaos"]
CATALOGUE = "chaos.catalogue"
