"""Versions of editable things: a stale edit is refused and shows both values.

The version of a thing is a digest of its editable state. `editing` computes it again under the row's lock, so
that a change by any other way is noticed too, and nobody else changes the thing before the edit is committed.
"""

import contextlib
import contextvars
import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet

from core.errors import Conflict, NotFound, ToolHubError
from core.json.canonical import canonical

Row = TypeVar("Row", bound=Model)
ANY = "*"
"""In place of versions: whichever version there is, as If-Match has it (RFC 9110 §13.1.1)."""


@dataclass(frozen=True)
class Editable(Generic[Row]):
    """A kind of thing that people and agents edit.

    `rows` are all of them, with what `state` reads. `state` maps what can be edited to its value, JSON
    or a time; never a secret. `title` names a thing in refusals. `more` locks further rows of the thing.
    `key` tells a thing from others of its kind.
    """

    name: str
    rows: QuerySet[Row]
    state: Callable[[Row], Mapping[str, Any]]
    title: Callable[[Row], str]
    more: Callable[[Row], object] = lambda _: None
    key: Callable[[Row], str] = lambda row: str(row.pk)

    def of(self, row: Row) -> "Edited[Row]":
        """One thing of this kind. Costs no query where the row was read with what `state` needs."""
        return Edited(self, row)


@dataclass(frozen=True)
class Edited(Generic[Row]):
    """One editable thing, as it was read."""

    kind: Editable[Row]
    row: Row

    @property
    def state(self) -> Mapping[str, Any]:
        """What can be edited, by name."""
        return self.kind.state(self.row)

    @property
    def title(self) -> str:
        """Its name in sentences."""
        return self.kind.title(self.row)

    @property
    def version(self) -> str:
        """The version as 32 hexadecimal digits; another state and another thing have another one."""
        named = {"kind": self.kind.name, "id": self.kind.key(self.row), "state": _json(self.state)}
        return hashlib.sha256(canonical(named)).hexdigest()[:32]

    def locked(self) -> "Edited[Row]":
        """Read the thing again and lock it until the transaction ends. Raises NotFound."""
        row = self.kind.rows.select_for_update(of=("self",)).filter(pk=self.row.pk).first()
        if row is None:
            raise NotFound(f"Somebody deleted {self.title} in the meantime.")
        self.kind.more(row)
        return Edited(self.kind, row)


@dataclass(frozen=True)
class Difference:
    """A field whose value now is not the one that a stale edit would have set."""

    field: str
    now: Any
    yours: Any


class StaleEdit(Conflict):
    """The thing was changed after it was read. `differences` has both values of each field."""

    code = "STALE_EDIT"

    def __init__(
        self, thing: Edited[Any], yours: Mapping[str, Any], shown: Mapping[str, Any] | None = None
    ) -> None:
        state = {**thing.state, **(shown or {})}
        self.version = thing.version
        self.differences = tuple(
            Difference(name, state[name], value)
            for name, value in yours.items()
            if name in state and _json(state[name]) != _json(value)
        )
        fields = [
            {"field": one.field, "now": _json(one.now), "yours": _json(one.yours)} for one in self.differences
        ]
        super().__init__(
            f"Somebody changed {thing.title} in the meantime. Nothing was saved.",
            data={"etag": f'"{self.version}"', "fields": fields},
            errors=[
                {
                    "pointer": f"/{one.field}",
                    "message": f"Now {_text(one.now)}; you sent {_text(one.yours)}.",
                }
                for one in self.differences
            ],
        )


@dataclass(frozen=True)
class _Edit:
    """The edit under way: the thing, and whether its editor named a version."""

    thing: Edited[Any]
    versioned: bool


_EDIT: contextvars.ContextVar[_Edit | None] = contextvars.ContextVar("edit", default=None)


def version_sent(version: str | None) -> tuple[str, ...]:
    """The versions that a form's answer is about, for `editing`: the one that it sent.

    Every page sends one. Whoever posts without a page has seen no values that could be stale.
    """
    if version is None:
        return (ANY,)
    return (version,) if version != ANY else ()


@contextlib.contextmanager
def editing(
    thing: Edited[Any],
    expected: Collection[str] | None,
    yours: Mapping[str, Any] | None = None,
    shown: Mapping[str, Any] | None = None,
) -> Iterator[None]:
    """Hold a thing while it is edited, in one transaction.

    `expected` are the versions that the editor read; ANY is each, None that none was named. `yours` are the
    values that the edit sets; `shown` are the values now, where its editor sees only a part of them. Raises
    StaleEdit for another version, NotFound for a thing that is gone.
    """
    with transaction.atomic():
        now = thing.locked()
        if expected is not None and ANY not in expected and now.version not in expected:
            raise StaleEdit(now, yours or {}, shown)
        token = _EDIT.set(_Edit(now, versioned=expected is not None))
        try:
            yield
        finally:
            _EDIT.reset(token)


def version_require(what: str) -> None:
    """Refuse an edit that loosens a safeguard unless its editor named the version that they read.

    `what` says what is loosened. An act that no form or request started names no version.
    Raises ToolHubError PRECONDITION_REQUIRED (428, RFC 6585 §3).
    """
    edit = _EDIT.get()
    if edit is None or edit.versioned:
        return
    raise ToolHubError(
        f"This change loosens a safeguard of {edit.thing.title} ({what}) and names no version.",
        code="PRECONDITION_REQUIRED",
        suggestions=["GET it, check what holds now, and repeat the request with its ETag as If-Match."],
    )


def _json(value: Any) -> Any:
    """The value as JSON; times in ISO 8601."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): _json(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_json(one) for one in value]
    return value


def _text(value: Any) -> str:
    """A value in a message, at most 200 characters of it."""
    return canonical(_json(value)).decode()[:200]
