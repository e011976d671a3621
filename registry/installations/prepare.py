"""After the review: makes ready what the release's runtime needs, and the environment of its lock."""

import json

from registry.environments import environment_build
from registry.installations.job import Job
from registry.installations.verify import contents_of
from registry.runtimes import hub_runtime_of


def prepare(job: Job) -> None:
    """Raises ToolHubError DEPENDENCY_MISSING, RESOURCE_EXCEEDED, SANDBOX_UNAVAILABLE, RUNTIME_UNKNOWN,
    CANCELLED.
    """
    contents = contents_of(job)
    runtime = json.loads(contents["toolhub.json"])["runtime"]
    for said in hub_runtime_of(runtime["type"]).prepare(runtime, contents, job.cancelled):
        job.say(said)
    if not job.installation.lock:
        job.say("It has no dependencies.")
        return
    environment_build(job.installation.lock, say=job.say, cancelled=job.cancelled)
