"""Each kind of event is declared once, written somewhere, told in a sentence, and found by the audit's filters."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from audit.kinds import event_kind, kind_named, kinds_declared
from audit.ledger import Entry, UndeclaredEvent, record
from audit.models import Event
from core.actors import SYSTEM
from core.sentences import MISSING, Sentence
from execution import run_events
from execution.engine.events import event_next
from execution.models import Run
from execution.run_events import RUN_EVENTS
from tests.audit.values import value_of

APPS = ("audit", "core", "execution", "registry", "security", "monitoring", "toolhub")
DECLARING = {"event_kinds.py", "run_events.py"}
# Functions that declare what the constant is which takes their answer.
DECLARE = {"event_kind", "sharing_kinds", "_declare"}
# Messages that are sent to others have names of their own, some of which are those of events.
MESSAGES = {"approval.asked", "run.outcome"}
KINDS = kinds_declared()


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for app in APPS:
        for path in sorted((settings.ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path.relative_to(settings.ROOT), ast.parse(path.read_text(encoding="utf-8"))


MODULES = list(modules())


def declared() -> dict[str, list[str]]:
    """By module that declares: the constants that hold kinds."""
    found: dict[str, list[str]] = {}
    for path, tree in MODULES:
        if path.name in DECLARING:
            found[".".join(path.with_suffix("").parts)] = [
                target.id
                for node in tree.body
                if isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Call)
                and isinstance(node.value.func, ast.Name)
                and node.value.func.id in DECLARE
                for target in node.targets
                if isinstance(target, ast.Name)
            ]
    return found


DECLARED = declared()
CONSTANTS = [(module, name) for module, names in DECLARED.items() for name in names]


def written(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The constants, as module and name, that a module uses otherwise than to read events by.

    Who reads compares, filters, or takes the kind's `.name`.
    """
    names = {
        bound.asname or bound.name: (node.module or "", bound.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for bound in node.names
    }
    reads = {id(node) for part in ast.walk(tree) if is_read(part) for node in ast.walk(part)}
    for node in ast.walk(tree):
        if id(node) in reads:
            continue
        if isinstance(node, ast.Name) and node.id in names:
            yield names[node.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            module, name = names[node.value.id]
            yield f"{module}.{name}", node.attr


def is_read(node: ast.AST) -> bool:
    called = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
    return (
        isinstance(node, ast.Compare)
        or called in {"filter", "exclude"}
        or (isinstance(node, ast.Attribute) and node.attr == "name")
    )


WRITTEN = {use for path, tree in MODULES if path.name not in DECLARING for use in written(tree)}


@pytest.mark.parametrize(("module", "name"), CONSTANTS, ids=[name for _, name in CONSTANTS])
def test_each_declared_kind_is_written(module: str, name: str) -> None:
    assert (module, name) in WRITTEN


def test_the_walk_finds_the_declarations_of_all_apps() -> None:
    assert set(DECLARED) == {
        "audit.event_kinds",
        "security.event_kinds",
        "registry.event_kinds",
        "execution.event_kinds",
        "execution.run_events",
        "monitoring.event_kinds",
    }
    # Three kinds hang on each constant of things that are shared.
    shared = sum(name.endswith("_SHARING") for _, name in CONSTANTS)
    assert len(CONSTANTS) + 2 * shared == len(KINDS) + len(RUN_EVENTS)
    assert len(KINDS) > 100


def test_no_module_names_a_kind_by_a_bare_string() -> None:
    known = {kind.name for kind in KINDS} | set(RUN_EVENTS)
    # Codes of errors and states are names of their own.
    known -= MESSAGES | {"EFFECT_FAILED"}
    found = [
        f"{path}:{node.lineno} {node.value}"
        for path, tree in MODULES
        if path.name not in DECLARING
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in known
    ]
    assert found == []


def test_no_kind_is_put_together_where_it_is_written() -> None:
    """The first argument of an entry or an event of a run is a constant, or a variable that holds one."""
    found = []
    for path, tree in MODULES:
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            place = {"Entry": 0, "event_add": 1, "event_next": 1, "EventKind": 0, "_declare": 0}.get(called)
            if place is None or path.name in DECLARING or path == Path("audit/kinds.py"):
                continue
            kinds = [*node.args[place : place + 1], *(k.value for k in node.keywords if k.arg == "kind")]
            if called == "EventKind" or any(isinstance(one, ast.Constant | ast.JoinedStr) for one in kinds):
                found.append(f"{path}:{node.lineno}")
    assert found == []


@pytest.mark.django_db
def test_the_write_door_takes_declared_kinds_only() -> None:
    kind: Any = "grant.created"
    with pytest.raises(
        UndeclaredEvent, match=r"'grant\.created' is not declared\. Declare it with event_kind"
    ):
        record(Entry(kind, SYSTEM, "persona", "1", {}))
    (granted,) = [kind for kind in KINDS if kind.name == "grant.created"]
    with pytest.raises(
        UndeclaredEvent, match=r"grant\.created is declared to be about persona, not about tool"
    ):
        record(Entry(granted, SYSTEM, "tool", "echo", {}))
    with pytest.raises(ValueError, match="SOMETHING is not declared"):
        event_next(Run(), "SOMETHING")
    assert not Event.objects.exists()


def test_a_kind_is_declared_once_and_in_a_form_that_fits() -> None:
    family, subject = KINDS[0].family, KINDS[0].about[0]
    with pytest.raises(ValueError, match="declared twice"):
        event_kind(family, KINDS[0].name, subject, "Happened")
    with pytest.raises(ValueError, match="too long"):
        event_kind(family, "a" * 65, subject, "Happened")
    with pytest.raises(ValueError, match="no subject"):
        event_kind(family, "a.b", (), "Happened")
    for wrong in ("Did {a", "Did [a", "Did a]", "Did {a b}", "Did {a:hour}", "Did [a [b]]"):
        with pytest.raises(ValueError, match="Did"):
            event_kind(family, "a.b", subject, wrong)
    assert kind_named("a.b") is None


SENTENCES = [(kind.name, kind.sentence) for kind in (*KINDS, *RUN_EVENTS.values())]


@pytest.mark.parametrize(("name", "sentence"), SENTENCES, ids=[name for name, _ in SENTENCES])
def test_each_sentence_reads_with_and_without_its_optional_data(name: str, sentence: Sentence) -> None:
    full = {slot: value_of(slot) for slot in sentence.needed | sentence.optional}
    needed = {slot: full[slot] for slot in sentence.needed}
    empty = dict.fromkeys(full)
    texts = {
        "full": sentence.text(full),
        "needed": sentence.text(needed),
        "empty": sentence.text(needed | dict.fromkeys(sentence.optional)),
        "nothing": sentence.text({}),
        "none": sentence.text(empty),
    }
    for text in texts.values():
        assert text == text.strip()
        assert text[0].isupper() or text.startswith(("some ", MISSING))
        assert not {"  ", " ,", " :", " ;", "{", "}", "[", "]", "None"} & {
            text[i : i + 2] for i in range(len(text))
        }
        assert not set("{}[]") & set(text)
        assert "None" not in text
    assert MISSING not in texts["full"] + texts["needed"] + texts["empty"]
    assert texts["needed"] == texts["empty"]
    assert (texts["full"] != texts["needed"]) == bool(sentence.optional - sentence.needed)


def test_a_sentence_shows_times_durations_choices_and_lists() -> None:
    sentence = Sentence("Did {a}, {b|nothing} and {c?yes:no}[ until {t:time}][ in {s:s}][, {l}]{d? at last:}")
    assert sentence.text({"a": 1, "b": "", "c": False}) == "Did 1, nothing and no"
    data = {"a": {"x": [1, 2]}, "b": 0, "c": True, "t": "2030-01-01T00:00:00Z", "s": 86_400, "l": ["p", "q"]}
    told = "Did x: 1, 2, 0 and yes until 2030-01-01T00:00:00Z in 24 h, p, q at last"
    assert sentence.text({**data, "d": True}) == told
    assert len(Sentence("{a}").text({"a": "x" * 1000})) == 200


def test_the_api_describes_each_event_of_a_run() -> None:
    described = json.loads((settings.ROOT / "toolhub" / "openapi.json").read_text(encoding="utf-8"))
    answers = described["paths"]["/api/v1/runs/{run_id}/events"]["get"]["responses"]["200"]["content"]
    event = answers["application/json"]["schema"]["properties"]["events"]["items"]["properties"]["event"]
    assert event["enum"] == list(RUN_EVENTS)
    for kind in RUN_EVENTS.values():
        assert (
            f"`{kind.name}`{f' ({kind.number})' if kind.number else ''}: {kind.sentence.usage}"
            in event["description"]
        )


def test_the_numbers_of_events_are_those_of_s3() -> None:
    numbers = {kind.name: kind.number for kind in RUN_EVENTS.values() if kind.number}
    assert numbers == {
        run_events.CALL_REQUESTED: 400,
        run_events.CALL_COMPLETED: 410,
        run_events.CALL_FAILED: 420,
    }
