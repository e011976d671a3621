"""Pages that list rows: search, filters, keyset paging and empty states, all in one place."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from django.db.models import F, QuerySet
from django.db.models.expressions import CombinedExpression
from django.http import HttpRequest, HttpResponse

from core.keyset import Row
from core.pages import ConsoleView, Page, cursor_fits, page_read

# Of lists in the order of time: how many hours back a filter `since` goes, and its words.
HOURS = (("1", "last hour"), ("24", "last 24 hours"), ("168", "last 7 days"))


HOURS_DIGITS = 4
SHOWN, NOTICES_MOST = 60, 10


@dataclass(frozen=True)
class Narrowed:
    """A filter that came with a link and has no field of its own: shown as a chip that takes it away."""

    name: str
    value: str
    without: str


@dataclass(frozen=True)
class Sorting:
    """By which column a list is ordered, and which way."""

    name: str
    key: str
    descending: bool

    @property
    def given(self) -> str:
        """As it stands in an address."""
        return f"-{self.name}" if self.descending else self.name


class ListView(ConsoleView, Generic[Row]):
    """A list of rows, each page of it at an address of its own.

    A new one says its words here, reads its rows in `rows`, and brings a template that extends
    `components/list.html` with the block `table`; `filters`, `bulk` and `nothing` where it has them.
    """

    heading = ""
    # What a row is called, and several; without `nouns` with an s.
    noun = ""
    nouns = ""
    search = ""
    # The route of the page above, and what it is called.
    above: ClassVar[tuple[str, str]] = ("", "")
    # The parameters that narrow the list: those with a field, and those that only links set.
    filters: ClassVar[tuple[str, ...]] = ("q",)
    linked: ClassVar[tuple[str, ...]] = ()
    # Of filters with a choice: the values that they take.
    choices: ClassVar[Mapping[str, Collection[str]]] = {}
    # A unique column that orders the rows, and the words of the two ways through them.
    key = "pk"
    descending = True
    ways: ClassVar[tuple[str, str]] = ("Newer", "Older")
    # Columns by which a person may order the rows, with the unique, indexed key of each.
    sorts: ClassVar[Mapping[str, str]] = {}
    # Whether the first page follows what happens.
    live = False

    def rows(self, params: Mapping[str, str]) -> QuerySet[Row]:
        """The rows that the parameters leave."""
        raise NotImplementedError

    def order(self, params: Mapping[str, str], key: str) -> F | CombinedExpression:
        """An expression that orders the rows as the key does; the key itself where its index serves."""
        return F(key)

    def more(self, page: Page[Row]) -> dict[str, Any]:
        """What the template needs beside the rows.

        `between` and `between_url` are the page between the one above and this.
        """
        return {}

    def get(self, request: HttpRequest) -> HttpResponse:
        """Return the page of rows that the address asks for, and what of it was ignored."""
        ignored = self._ignored()
        sorting = self._sorting(request.GET.get("sort", ""))
        page = page_read(
            self.rows(request.GET),
            request.GET,
            key=sorting.key,
            descending=sorting.descending,
            by=self.order(request.GET, sorting.key),
        )
        turned = sorting.key == self.key and sorting.descending != self.descending
        given = {name: request.GET.get(name, "") for name in (*self.filters, *self.linked)}
        return self.show(
            {
                "page": page,
                "heading": self.heading,
                "up": self.above[0],
                "place": self.above[1],
                "noun": self.noun,
                "nouns": self.nouns or f"{self.noun}s",
                "search": self.search,
                "ways": self.ways[::-1] if turned else self.ways,
                "sorting": sorting,
                "live": self.live,
                "ignored": ignored,
                "filters": given,
                "filtered": any(given.values()),
                "linked": [self._narrowed(name, given[name]) for name in self.linked if given[name]],
                **self.more(page),
            }
        )

    def _ignored(self) -> list[str]:
        """Take out of the query what the list does not know, or cannot use; return a notice for each."""
        kept: Any = self.request.GET.copy()
        notices = []
        known = (*self.filters, *self.linked)
        for name in list(kept):
            value = str(kept[name])
            message = self.unfit(name, value, known) if value else ""
            if message:
                del kept[name]
                notices.append(message)
        if notices:
            self.request.GET = kept
            self.request.META["QUERY_STRING"] = kept.urlencode()
        return notices[:NOTICES_MOST]

    def unfit(self, name: str, value: str, known: Sequence[str]) -> str:
        """Return why a parameter is ignored; empty for one that is used."""
        shown_name, shown_value = name[:SHOWN], value[:SHOWN]
        if name in ("after", "before"):
            fits = cursor_fits(self.rows({}), self._sorting(self.request.GET.get("sort", "")).key, value)
            return "" if fits else f'The page "{shown_value}" was ignored: it is none of this list.'
        if name == "sort":
            columns = ", ".join(self.sorts) or "none"
            fits = value.removeprefix("-") in self.sorts
            return "" if fits else f'The order "{shown_value}" was ignored. Columns: {columns}.'
        if name not in known:
            return f'The filter "{shown_name}" was ignored: it is unknown. Filters: {", ".join(known)}.'
        if name == "since":
            fits = value.isascii() and value.isdigit() and len(value) <= HOURS_DIGITS
            return (
                "" if fits else f'The filter since "{shown_value}" was ignored: expected a number of hours.'
            )
        values = self.choices.get(name)
        if values is None or value in values:
            return ""
        return f'The filter {name} "{shown_value}" was ignored. Expected one of {", ".join(values)}.'

    def _sorting(self, given: str) -> Sorting:
        """What `?sort=name` or `?sort=-name` means; the list's own order where it means nothing."""
        name = given.removeprefix("-")
        if name in self.sorts:
            return Sorting(name, self.sorts[name], given.startswith("-"))
        own = next((word for word, key in self.sorts.items() if key == self.key), "")
        return Sorting(own, self.key, self.descending)

    def _narrowed(self, name: str, value: str) -> Narrowed:
        params = self.request.GET.copy()
        for gone in (name, "after", "before"):
            params.pop(gone, None)
        return Narrowed(name, value, f"{self.request.path}?{params.urlencode()}")
