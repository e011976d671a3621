"""The folder in which the processes of this machine count what /metrics shows."""

import os
import shutil
from pathlib import Path

from django.conf import settings


def counts_forget() -> None:
    """Makes it, empty: what processes that are gone have counted would be counted again.

    One that the environment names is its owner's to empty.
    """
    own = settings.DATA / "metrics"
    folder = Path(os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(own)))
    if folder == own:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
