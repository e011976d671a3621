"""`test`: runs the examples of each tool on this machine, as a hub does before it publishes a package."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolhub_sdk.canonical import canonical_text
from toolhub_sdk.checks.engine import compiled
from toolhub_sdk.checks.manifest import manifest_problems
from toolhub_sdk.checks.mismatch import mismatches_of
from toolhub_sdk.cli.calls import tool_call, tool_load
from toolhub_sdk.cli.package_folder import files_read, manifest_load
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.repeatable import ADVICE, FEW, SEEDS, order_may_show
from toolhub_sdk.stop import StopError

SHOWN = 300


def run(options: argparse.Namespace) -> int:
    """Prints a line for each example; 1 when one fails. Raises StopError for a bad manifest."""
    manifest = manifest_load(options.folder, files_read(options.folder))
    if manifest_problems(manifest):
        raise StopError("The manifest has errors: run `check` first.")
    passed = failed = 0
    for definition in manifest["tools"]:
        name = definition["name"]
        if options.tool not in (None, name):
            continue
        examples = definition.get("_meta", {}).get(CONTRACT, {}).get("examples", [])
        if not examples:
            why = tool_load(options.folder, manifest, definition)
            failed += why is not None
            print(f"FAILED  {name}: {why}" if why else f"-       {name}: no examples")
        for number, example in enumerate(examples, 1):
            why = example_failure(options.folder, manifest, definition, example, options.timeout)
            passed, failed = passed + (why is None), failed + (why is not None)
            print(f"{'FAILED ' if why else 'ok     '} {name}, example {number}{f': {why}' if why else ''}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed + failed else 0


def example_failure(
    folder: Path,
    manifest: Mapping[str, Any],
    definition: Mapping[str, Any],
    example: Mapping[str, Any],
    seconds: float | None = None,
) -> str | None:
    """Why an example does not hold, or None: the result is the promised one and fits outputSchema, and a
    deterministic tool gives it again.
    """
    answer = tool_call(folder, manifest, definition, example["arguments"], seconds)
    if answer.error:
        return answer.error
    if "result" in example and canonical_text(answer.data) != canonical_text(example["result"]):
        return f"promised {_short(example['result'])}, came {_short(answer.data)}"
    if "outputSchema" in definition:
        validator = compiled(definition["outputSchema"])
        if not validator.is_valid(answer.data):
            errors = validator.errors(answer.data)
            found = mismatches_of(errors[0], definition["outputSchema"]) if errors else ()
            why = found[0].message[:SHOWN] if found else "it is too large to say where"
            return f"the result does not fit outputSchema: {why}"
    contract = definition.get("_meta", {}).get(CONTRACT, {})
    determinism = contract.get("determinism", "non_deterministic")
    seeds = SEEDS if order_may_show(files_read(folder)) else SEEDS[:FEW]
    for seed in seeds[1:] if determinism != "non_deterministic" else ():
        again = tool_call(folder, manifest, definition, example["arguments"], seconds, seed)
        if again.error or canonical_text(again.data) != canonical_text(answer.data):
            return f"another process gave another result, so that it is not {determinism}. {ADVICE}"
    return None


def _short(value: Any) -> str:
    text = canonical_text(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
