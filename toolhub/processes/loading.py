"""Loads what the hub's processes need into the one that forks them: once for all, and shared."""

import gc
from importlib import import_module

from django.conf import settings
from django.urls import get_resolver
from django.utils.module_loading import import_string

# What the programs import only when they start or first work. One that is missing costs time and memory.
WEB = (
    *("granian", "toolhub.entrance.door", "core.handler", "blake3"),
    *("django.contrib.messages.storage.fallback", "whitenoise.storage"),
)
WORKER = (
    *("celery.apps.worker", "celery.worker.components", "celery.worker.consumer", "celery.worker.pidbox"),
    *("celery.app.trace", "celery.backends.base", "celery.concurrency.prefork", "celery.events.receiver"),
    # By means of these a worker's process asks to end with it.
    *("billiard.dummy", "cffi.cparser"),
    *(
        "core.spool",
        "execution.engine.tasks",
        "registry.installations.tasks",
        "registry.installations.worker",
    ),
)
STEWARD = ("core.outbox.sender", "execution.steward")


def load() -> None:
    """Imports all of it. Nothing of it opens a connection or starts a thread."""
    # While modules are loaded, nothing becomes garbage; what is loaded is never looked through for it.
    gc.disable()
    for name in (*WEB, *WORKER, *STEWARD, settings.SESSION_ENGINE):
        import_module(name)
    for name in (*settings.MIDDLEWARE, *settings.AUTHENTICATION_BACKENDS):
        import_string(name)
    get_resolver().url_patterns  # noqa: B018 - every page
    gc.freeze()
    gc.enable()
