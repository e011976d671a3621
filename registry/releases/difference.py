"""What changed between two releases, field by field, with what asks for care marked."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from registry.schemas import pointer as pointer_of
from toolhub_sdk.package import CONTRACT

Kind = Literal["added", "removed", "changed"]
CHANGES_MAX = 500
# Where in a tool a change widens what it may do, or breaks who calls it.
_CAREFUL = (
    f"/_meta/{CONTRACT.replace('/', '~1')}/requiredCapabilities",
    f"/_meta/{CONTRACT.replace('/', '~1')}/network",
    f"/_meta/{CONTRACT.replace('/', '~1')}/filesystem",
    f"/_meta/{CONTRACT.replace('/', '~1')}/isolation",
    f"/_meta/{CONTRACT.replace('/', '~1')}/sideEffects",
    f"/_meta/{CONTRACT.replace('/', '~1')}/effects",
    f"/_meta/{CONTRACT.replace('/', '~1')}/requiresApproval",
    "/inputSchema/required",
    "/inputSchema/properties",
)


@dataclass(frozen=True)
class Change:
    """One difference: at which place of which tool (empty for the package), from what to what."""

    tool: str
    pointer: str
    kind: Kind
    before: Any
    after: Any
    careful: bool

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
        yield Change(name, pointer, kind, before, after, _is_careful(pointer))


def _walk(old: Any, new: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str, Kind, Any, Any]]:
    """The places where two JSON values differ, as deep as objects go; lists are compared as a whole."""
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
        yield pointer_of(path), "changed", old, new
