"""The hub's settings with the floor beside its API, so that both share server, pool, database and process."""

from toolhub.settings import *  # noqa: F403
from toolhub.settings import INSTALLED_APPS as HUB_APPS

ROOT_URLCONF = "bench.urls"
INSTALLED_APPS = [*HUB_APPS, "bench"]
