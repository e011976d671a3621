"""After the review: makes the release's own environment from its lock."""

from registry.environments import environment_build
from registry.installations.job import Job


def prepare(job: Job) -> None:
    """Raises ToolHubError DEPENDENCY_MISSING, RESOURCE_EXCEEDED, CANCELLED."""
    if not job.installation.lock:
        job.say("It has no dependencies.")
        return
    environment_build(job.installation.lock, say=job.say, cancelled=job.cancelled)
