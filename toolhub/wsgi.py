"""The WSGI application, served by granian."""

import gc
import os

import django
from django.conf import settings
from django.urls import get_resolver

from core.handler import Handler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolhub.settings")
# While modules are loaded, nothing becomes garbage: looking for it would take a tenth of the time.
gc.disable()
django.setup(set_prefix=False)
if not settings.DATABASE_IS_SQLITE:
    from core.postgres.pool import pool_use

    pool_use(settings.DATABASES["default"], settings.DB_POOL)
application = Handler()
gc.disable()
get_resolver().url_patterns  # noqa: B018 - the first caller need not wait until every page is loaded
gc.freeze()
# A call makes some thousand objects and leaves none of them in a cycle: looking each 700 took a tenth of it.
gc.set_threshold(25_000, 10, 10)
gc.enable()
