"""What became of each call: the hub's rows, what clients were told, and what the world saw, held together."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos.load import FINAL, Told

ONCE = frozenset({"world_once", "world_quick", "world_asked", "world_effect", "world_undo"})
TRACED = ONCE | {"world_again", "world_think", "world_flaky"}
UNKNOWN = "outcome_unknown"
# How a run may end that was well called: with its result, or because its worker or its caller ended it.
ENDS = frozenset({None, "WORKER_LOST", "CANCELLED", "TIMEOUT"})
# Further ends of some tools.
OWN_ENDS = {
    "world_asked": frozenset({"APPROVAL_EXPIRED"}),
    "world_effect": frozenset({"EFFECT_FAILED"}),
}
Messages = Mapping[str, Collection[tuple[str, str]]]


@dataclass(frozen=True)
class Verdict:
    """Counts; `executions` says how many runs the world saw how often. `faults` are sentences."""

    accepted: int
    outcomes: int
    by_end: Counter[str]
    unknown: int
    late: int
    executions: Counter[int]
    faults: list[str]


def executions_of(world: Path) -> Counter[str]:
    """How often the world saw each run being carried out."""
    lines = world.read_text(encoding="ascii").splitlines() if world.exists() else []
    return Counter(line.split()[0] for line in lines)


def verdict(
    kept: Mapping[str, Any],
    told: Sequence[Told],
    seen: Mapping[str, int],
    messages: Messages | None = None,
) -> Verdict:
    """The verdict over what `chaos_count` says, what clients heard, and what the world saw of each run.

    `messages` are the callbacks that came, by run; None where nobody received any.
    """
    runs: dict[str, dict[str, Any]] = kept["runs"]
    broken = {name: count for name, count in kept["faults"].items() if name != "open_runs"}
    faults = [f"The invariant {name} does not hold for {count} runs." for name, count in broken.items()]
    faults += [sentence for run, row in runs.items() for sentence in _run_faults(run, row, seen.get(run, 0))]
    faults += [sentence for call in told for sentence in _told_faults(call, runs)]
    faults += [f"Run {run} of nobody's was carried out." for run in seen if run not in runs]
    unanswered = sum(call.run is None for call in told)
    faults += _effect_faults(kept, runs)
    if messages is not None:
        faults += [sentence for run, row in runs.items() for sentence in _callback_faults(run, row, messages)]
    by_clients = [run for run, row in runs.items() if not (row.get("scheduled") or row.get("parent"))]
    unasked = len(by_clients) - len({call.run for call in told if call.run})
    if unasked > unanswered:
        faults.append(f"Nobody was told of {unasked} runs, and {unanswered} calls had no answer.")
    ends = Counter(" ".join(filter(None, (row["status"], row["code"]))) for row in runs.values())
    return Verdict(
        accepted=len(runs),
        outcomes=sum(row["status"] in FINAL for row in runs.values()),
        by_end=ends,
        unknown=sum(row["status"] == UNKNOWN for row in runs.values()),
        late=kept["late"],
        executions=Counter(seen.get(run, 0) for run, row in runs.items() if row["tool"] in TRACED),
        faults=faults,
    )


def _run_faults(run: str, row: Mapping[str, Any], times: int) -> list[str]:
    named = f"Run {run} of {row['tool']}"
    found = []
    if row["status"] not in FINAL and row["status"] != UNKNOWN:
        found.append(f"{named} is lost: it is {row['status']} and stays so.")
    if row["status"] == UNKNOWN and row["tool"] not in ONCE:
        found.append(f"{named} might be repeated, and its outcome is unknown all the same.")
    if row["tool"] in ONCE and times > 1:
        found.append(f"{named} must not be repeated, and the world saw it {times} times.")
    if row["tool"] in TRACED and row["status"] == "completed" and not times:
        found.append(f"{named} is completed, and the world never saw it.")
    if row["code"] not in ENDS | OWN_ENDS.get(row["tool"], frozenset()):
        found.append(f"{named} ended with {row['code']}.")
    return found


def _effect_faults(kept: Mapping[str, Any], runs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Each completed run has its effects once, each failed one an undo, each due time of a schedule a run."""
    rows = [(run, row) for run, row in runs.items() if row["tool"] == "world_effect"]
    done = sum(row["status"] == "completed" for _, row in rows)
    found = []
    if kept.get("counted", done) != done:
        found.append(f"{done} runs counted themselves in memory, which says {kept['counted']}.")
    undone = Counter(row.get("parent") for row in runs.values() if row["tool"] == "world_undo")
    for run, row in rows:
        wanted = int(row["code"] == "EFFECT_FAILED")
        if undone[run] != wanted:
            found.append(f"Run {run} of world_effect has {undone[run]} undoing runs, not {wanted}.")
    scheduled = sum(bool(row.get("scheduled")) for row in runs.values())
    if kept.get("due_times", scheduled) != scheduled:
        found.append(f"{kept['due_times']} due times of schedules have {scheduled} runs.")
    return found


def _callback_faults(run: str, row: Mapping[str, Any], messages: Messages) -> list[str]:
    got = messages.get(run, ())
    named = f"The callback of run {run} of {row['tool']}"
    if not row.get("callback"):
        return [f"{named} came, and nobody asked for one."] if got else []
    if row["status"] in FINAL and not got:
        return [f"{named} never came."]
    if len(got) > 1:
        return [f"{named} came as {len(got)} different messages."]
    return [f"{named} said {said}, not {row['status']}." for _, said in got if said != row["status"]]


def _told_faults(call: Told, runs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    named = f"The call {call.key} of {call.tool}"
    found = [f"{named} {sentence}" for sentence in call.wrong]
    if call.run and call.run not in runs:
        found.append(f"{named} was accepted as run {call.run}, which is lost.")
    elif call.run and call.end and runs[call.run]["status"] != call.end:
        now = runs[call.run]["status"]
        found.append(f"{named} was told {call.end}, and its run is {now}: two outcomes.")
    return found
