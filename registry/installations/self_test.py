"""Loads each tool and calls it with its own examples, as agents will: it has to give the promised results."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import ToolHubError
from core.json.canonical import canonical
from registry.config.schema import schema_of_release
from registry.config.selectors import settings_read
from registry.environments import environment_build
from registry.installations.job import Job
from registry.installations.trials import Tried, trial_of
from registry.installations.tries import Tries, may_repeat
from registry.installations.verify import contents_of, draft_of
from registry.releases.draft import DraftTool
from registry.store import release_folder
from toolhub_sdk.repeatable import ADVICE, FEW, SEEDS, seeds_for

EXAMPLES_MAX = 200
# All examples of a package together, in seconds.
SECONDS_MAX = 600.0
_SHOWN = 400


def self_test(job: Job) -> None:
    """Raises ToolHubError SELF_TEST_FAILED with the tool or example, RUNTIME_UNKNOWN, CANCELLED."""
    draft = draft_of(job)
    trial_of(draft.release.runner)
    lacking = settings_read(draft.release.package.name, schema_of_release(draft.release)).problems
    if lacking:
        names = ", ".join(each["pointer"].removeprefix("/config/") for each in lacking)
        job.say(f"The package's settings come first: {names}. Its examples were not tried.")
    # Where another worker prepared it, the files are made here first: not in the time of an example.
    release_folder(draft.release)
    if draft.release.lock:
        environment_build(draft.release.lock, say=job.say, cancelled=job.cancelled)
    tries, ends, late = Tries(job, contents_of(job)), time.monotonic() + SECONDS_MAX, False
    for tool in draft.tools:
        examples = tool.version.declared.get("examples", [])
        if not examples:
            job.say(f"{tool.name}: no examples, so that it is loaded and not called.")
        called, largest = 0, _largest(examples)
        for number, example in enumerate([] if lacking else examples):
            job.check()
            if tries.examples >= EXAMPLES_MAX or time.monotonic() > ends:
                late = True
                break
            _example(tries, tool, number, example, largest=number == largest)
            called += 1
        if not called:
            _loaded(tries, tool)
    if late:
        job.say(f"{tries.examples} examples were tried; for the rest there is no time.")


def _loaded(tries: Tries, tool: DraftTool) -> None:
    """Raises ToolHubError SELF_TEST_FAILED for a tool that does not have what its contract names."""
    tried = tries.call(tool, "", None)
    if tried.error is not None:
        raise _failed(tool, None, str(tried.error.get("message", "")), dict(tried.error))


def _largest(examples: Sequence[Mapping[str, Any]]) -> int:
    """The number of the example with the longest arguments, where the order of a set shows most likely."""
    sizes = [len(canonical(one.get("arguments", {}))) for one in examples]
    return sizes.index(max(sizes)) if sizes else 0


def _example(
    tries: Tries, tool: DraftTool, number: int, example: Mapping[str, Any], *, largest: bool
) -> None:
    job, place, arguments = tries.job, f"example {number + 1}", example.get("arguments", {})
    tries.examples += 1
    tried = tries.call(tool, place, arguments, look=number == 0)
    if tried.error is not None:
        raise _failed(tool, number, str(tried.error.get("message", "")), dict(tried.error))
    if "result" in example and canonical(tried.data) != canonical(example["result"]):
        job.say(f"promised: {_short(example['result'])}")
        job.say(f"came:     {_short(tried.data)}")
        raise _failed(tool, number, "the result is another one.", {"expected": example["result"]})
    if tool.version.determinism == "deterministic" or (
        tool.version.determinism == "bounded" and may_repeat(tool)
    ):
        _repeated(tries, tool, number, arguments, tried, largest=largest)
    if tool.version.is_pure and tried.remembered:
        raise _failed(tool, number, "it is declared pure, and it wrote memory.", {})
    if tool.version.is_pure and tried.wrote:
        tries.warn(
            "PURE_TOOL_WRITES", f"{tool.name} is declared pure, and its example {number + 1} wrote files."
        )
    job.say(f"{tool.name}: {place} in {tried.duration_ms:.0f} ms")


def _repeated(
    tries: Tries, tool: DraftTool, number: int, arguments: Mapping[str, Any], first: Tried, *, largest: bool
) -> None:
    """Call the tool again in fresh processes. A bounded one gets the same time and chance each time.

    A quick one whose order may show is called for all seeds at one go, with its largest example. Where the
    results differ, calls in sandboxes of their own decide.
    """
    seeds, report = SEEDS[1:FEW], None
    many = seeds_for(tries.files, first.cpu_ms)
    if len(many) > FEW and may_repeat(tool) and largest:
        report = tries.repeat(tool, arguments, many[1:])
    if report is not None:
        same = "seed" not in report and canonical(report["first"]) == canonical(first.data)
        seeds = () if same else (*SEEDS[1:FEW], *([report["seed"]] if "seed" in report else ()))
    for seed in seeds:
        again = tries.call(tool, f"example {number + 1}, hash seed {seed}", arguments, seed=seed)
        if again.error is not None:
            message = f"in another process, {again.error.get('message', '')}"
            raise _failed(tool, number, message, dict(again.error))
        if canonical(again.data) == canonical(first.data):
            continue
        tries.job.say(f"hash seed {SEEDS[0]}: {_short(first.data)}")
        tries.job.say(f"hash seed {seed}: {_short(again.data)}")
        raise _failed(
            tool,
            number,
            f"another process gave another result, so that it is not {tool.version.determinism}. {ADVICE}",
            {"seeds": [SEEDS[0], seed]},
        )


def _failed(tool: DraftTool, number: int | None, why: str, details: dict[str, Any]) -> ToolHubError:
    place = "" if number is None else f", example {number + 1}"
    about = {"tool": tool.name} if number is None else {"tool": tool.name, "example": number}
    return ToolHubError(f"{tool.name}{place}: {why}", code="SELF_TEST_FAILED", data={**about, **details})


def _short(value: Any) -> str:
    text = canonical(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"
