"""System checks with ids, so that a hub that is set up badly says so at its start."""

import difflib
import os
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, register

from toolhub.env import VARIABLES

# Read by the set-up and the launcher, not by the settings.
OTHER = {"TOOLHUB_REQUIRE_SERVICES", "TOOLHUB_FAILPOINT", "TOOLHUB_HOST", "TOOLHUB_PORT"}


@register()
def environment_names(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """toolhub.W001: a TOOLHUB_ variable that nothing reads is probably misspelt."""
    known = {*VARIABLES, *(f"{name}_FILE" for name, v in VARIABLES.items() if v.secret), *OTHER}
    found: list[CheckMessage] = []
    for name in sorted(os.environ):
        if not name.startswith("TOOLHUB_") or name in known or name.startswith("TOOLHUB_TEST_"):
            continue
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else "See docs/settings.md."
        message = f"{name} is set, but no setting has that name."
        found.append(checks.Warning(message, hint=hint, id="toolhub.W001"))
    return found


@register(deploy=True)
def production(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """toolhub.E001: debug pages must be off; toolhub.W002: SQLite is for one machine."""
    found: list[CheckMessage] = []
    if settings.DEBUG:
        found.append(
            checks.Error("TOOLHUB_DEBUG is on.", hint="Debug pages show secrets.", id="toolhub.E001")
        )
    if settings.DATABASE_IS_SQLITE:
        found.append(
            checks.Warning(
                "The hub runs on SQLite.", hint="Many machines need PostgreSQL.", id="toolhub.W002"
            )
        )
    return found
