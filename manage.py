#!/usr/bin/env python
"""Django's command line for ToolHub."""

import gc
import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolhub.settings")
    # While modules are loaded, nothing becomes garbage; `toolhub/apps.py` lets it go on.
    gc.disable()
    try:
        if sys.argv[1:2] == ["up"]:
            from toolhub.processes.environment import environment_set

            environment_set(sys.argv[2:])
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"ToolHub cannot start: {error}")
