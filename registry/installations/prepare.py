"""After the review: makes the release's own environment from its lock, and compiles a module."""

import json

from registry.environments import environment_build
from registry.installations.job import Job
from registry.installations.verify import contents_of
from security.sandbox.wasm import module_build


def prepare(job: Job) -> None:
    """Raises ToolHubError DEPENDENCY_MISSING, RESOURCE_EXCEEDED, SANDBOX_UNAVAILABLE, CANCELLED."""
    contents = contents_of(job)
    runtime = json.loads(contents["toolhub.json"])["runtime"]
    if runtime["type"] == "wasm":
        module_build(contents[runtime["entry"]], job.cancelled)
        job.say("The module is compiled.")
    if not job.installation.lock:
        job.say("It has no dependencies.")
        return
    environment_build(job.installation.lock, say=job.say, cancelled=job.cancelled)
