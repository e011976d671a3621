"""What changed between two releases, field by field, with what asks for care marked."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from core.json.pointer import pointer_parts
from registry.schemas import pointer as pointer_of
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.runtimes.registry import runtimes

Kind = Literal["added", "removed", "changed"]
CHANGES_MAX = 500
# Where in a tool a change widens what it may do, or breaks who calls it.
_CONTRACT_CAREFUL = (
    "requiredCapabilities",
    "network",
    *(name for each in runtimes().values() for name in each.contract),
    "filesystem",
    "memory",
    "isolation",
    "sideEffects",
    "idempotent",
    "preconditions",
    "effects",
    "validators",
    "requiresApproval",
    "contentChecks",
    "sanitise",
)
_CAREFUL = (
    *(pointer_of(["_meta", CONTRACT, name]) for name in _CONTRACT_CAREFUL),
    "/inputSchema/required",
    "/inputSchema/properties",
)
# What tells one object of a list from its neighbours: errors, rules, preconditions, effects, examples.
_NAMES = ("code", "description", "message", "name")


@dataclass(frozen=True)
class Change:
    """One difference: at which place of which tool (empty for the package), from what to what.

    `about` is the name of the object in whose list the place is: a rule's message, an error's code.
    """

    tool: str
    pointer: str
    kind: Kind
    before: Any
    after: Any
    careful: bool
    about: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def releases_compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """The changes from one manifest to another, tools by name.

    Of more than CHANGES_MAX, those that ask for care are kept, then others.
    """
    found: list[Change] = []
    for pointer, kind, old, new in _walk({**before, "tools": None}, {**after, "tools": None}, ()):
        careful = pointer.startswith(("/runtime", "/dependencies"))
        found.append(Change("", pointer, kind, old, new, careful))
    olds = {tool["name"]: tool for tool in before.get("tools", [])}
    news = {tool["name"]: tool for tool in after.get("tools", [])}
    for name in sorted(olds.keys() | news.keys()):
        found += _tool(name, olds.get(name), news.get(name))
    if len(found) > CHANGES_MAX:
        found.sort(key=lambda change: not change.careful)
    return found[:CHANGES_MAX]


def _is_careful(pointer: str) -> bool:
    """Whether the place is such a one, lies in one, or holds one: a contract may come or go as a whole."""
    return pointer.startswith(_CAREFUL) or any(one.startswith(f"{pointer}/") for one in _CAREFUL)


def _tool(name: str, old: Any, new: Any) -> Iterator[Change]:
    if old is None or new is None:
        kind: Kind = "added" if old is None else "removed"
        summary = (old or new).get("description", "")
        yield Change(name, "", kind, summary if old else None, summary if new else None, careful=True)
        return
    for pointer, kind, before, after in _walk(old, new, ()):
        # Of what is gone from a list the place is in the old one.
        gone = kind == "removed" and pointer.rpartition("/")[2].isdigit()
        about = _about(old if gone else new, pointer)
        yield Change(name, pointer, kind, before, after, _is_careful(pointer), about)


def _walk(old: Any, new: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str, Kind, Any, Any]]:
    """The places where two JSON values differ, as deep as objects go.

    Of lists of objects that have names, object by object; other lists are compared as a whole.
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            here = (*path, key)
            if key not in new:
                yield pointer_of(here), "removed", old[key], None
            elif key not in old:
                yield pointer_of(here), "added", None, new[key]
            else:
                yield from _walk(old[key], new[key], here)
    elif old != new:
        yield from _walk_lists(old, new, path) or [(pointer_of(path), "changed", old, new)]


def _walk_lists(old: Any, new: Any, path: tuple[str | int, ...]) -> list[tuple[str, Kind, Any, Any]]:
    """As `_walk` for two lists of named objects; empty where they are none, or only their order differs.

    Places are those in the new list; of what is gone, in the old one.
    """
    olds, news = _named(old), _named(new)
    if olds is None or news is None or [n for n in olds if n in news] != [n for n in news if n in olds]:
        return []
    found: list[tuple[str, Kind, Any, Any]] = []
    for name, index in olds.items():
        if name not in news:
            found.append((pointer_of((*path, index)), "removed", old[index], None))
    for name, index in news.items():
        if name in olds:
            found += _walk(old[olds[name]], new[index], (*path, index))
        else:
            found.append((pointer_of((*path, index)), "added", None, new[index]))
    return found


def _about(node: Any, pointer: str) -> str:
    """The name of the last object of a list on the way to a place; empty without one, or a way."""
    about = ""
    for part in pointer_parts(pointer):
        in_list = isinstance(node, list)
        try:
            node = node[int(part)] if in_list else node[part]
        except (LookupError, TypeError):
            break
        if in_list and isinstance(node, Mapping):
            about = next((str(node[name]) for name in _NAMES if name in node), about)
    return about


def _named(value: Any) -> dict[str, int] | None:
    """Where the objects of a list stand, by their names; None where some have none, or two the same."""
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        return None
    names = [next((str(one[name]) for name in _NAMES if name in one), None) for one in value]
    if None in names or len(set(names)) != len(names):
        return None
    return {str(name): index for index, name in enumerate(names)}
