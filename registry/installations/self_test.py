"""Calls each tool with its own examples, as agents will: the results have to be the promised ones."""

import time
from typing import Any

from core.errors import ToolHubError
from core.json.canonical import canonical
from registry.config.schema import schema_of_release
from registry.config.selectors import settings_read
from registry.environments import environment_build
from registry.installations.job import Job
from registry.installations.trials import Tried, trial_of
from registry.installations.verify import draft_of
from registry.releases.draft import DraftTool
from registry.store import release_folder

EXAMPLES_MAX = 200
# All examples of a package together, in seconds.
SECONDS_MAX = 600.0
_SHOWN = 400


def self_test(job: Job) -> None:
    """Raises ToolHubError SELF_TEST_FAILED with the example that failed, NOT_AVAILABLE, CANCELLED."""
    draft = draft_of(job)
    trial_of(draft.release.runner)
    lacking = settings_read(draft.release.package.name, schema_of_release(draft.release)).problems
    if lacking:
        names = ", ".join(each["pointer"].removeprefix("/config/") for each in lacking)
        job.say(f"The package's settings come first: {names}. Its examples were not tried.")
        return
    # Where another worker prepared it, the files are made here first: not in the time of an example.
    release_folder(draft.release)
    if draft.release.lock:
        environment_build(draft.release.lock, say=job.say, cancelled=job.cancelled)
    done, ends = 0, time.monotonic() + SECONDS_MAX
    for tool in draft.tools:
        examples = tool.version.declared.get("examples", [])
        for number, example in enumerate(examples):
            job.check()
            if done >= EXAMPLES_MAX or time.monotonic() > ends:
                job.say(f"{done} examples were tried; for the rest there is no time.")
                return
            _example(job, tool, number, example)
            done += 1
        if not examples:
            job.say(f"{tool.name}: no examples, so nothing is known of it.")


def _example(job: Job, tool: DraftTool, number: int, example: dict[str, Any]) -> None:
    tried = _call(job, tool, example)
    if tried.error is not None:
        raise _failed(tool, number, str(tried.error.get("message", "")), dict(tried.error))
    if "result" in example and canonical(tried.data) != canonical(example["result"]):
        job.say(f"promised: {_short(example['result'])}")
        job.say(f"came:     {_short(tried.data)}")
        raise _failed(tool, number, "the result is another one.", {"expected": example["result"]})
    if tool.version.determinism == "deterministic":
        again = _call(job, tool, example)
        if again.error is not None or canonical(again.data) != canonical(tried.data):
            raise _failed(tool, number, "a second call gave another result; it is no deterministic tool.", {})
    if tool.version.is_pure and tried.wrote:
        _warn(job, tool, f"{tool.name} is declared pure, and its example {number + 1} wrote files.")
    job.say(f"{tool.name}: example {number + 1} in {tried.duration_ms:.0f} ms")


def _warn(job: Job, tool: DraftTool, message: str) -> None:
    """Tells of it in the log, and beside the review's warnings, where it stays."""
    job.say(f"warning: {message}")
    warning = {"code": "PURE_TOOL_WRITES", "pointer": "", "message": message}
    known = job.installation.report.get("warnings", [])
    if warning not in known:
        job.write(report={**job.installation.report, "warnings": [*known, warning]})


def _call(job: Job, tool: DraftTool, example: dict[str, Any]) -> Tried:
    return trial_of(tool.version.runner)(tool.version, example.get("arguments", {}), job.cancelled)


def _failed(tool: DraftTool, number: int, why: str, details: dict[str, Any]) -> ToolHubError:
    return ToolHubError(
        f"{tool.name}, example {number + 1}: {why}",
        code="SELF_TEST_FAILED",
        data={"tool": tool.name, "example": number, **details},
    )


def _short(value: Any) -> str:
    text = canonical(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"
