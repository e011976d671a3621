"""Pages that list rows: search, filters, keyset paging and empty states, all in one place."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from core.pages import ConsoleView, Page, Row, page_read


@dataclass(frozen=True)
class Narrowed:
    """A filter that came with a link and has no field of its own: shown as a chip that takes it away."""

    name: str
    value: str
    without: str


class ListView(ConsoleView, Generic[Row]):
    """A list of rows, each page of it at an address of its own.

    A new one says its words here, reads its rows in `rows`, and brings a template that extends
    `components/list.html` with the block `table`; `filters` and `nothing` where it has them.
    """

    heading = ""
    noun = ""
    search = ""
    # The parameters that narrow the list: those with a field, and those that only links set.
    filters: ClassVar[tuple[str, ...]] = ("q",)
    linked: ClassVar[tuple[str, ...]] = ()
    # A unique column that orders the rows, and the words of the two ways through them.
    key = "pk"
    descending = True
    ways: ClassVar[tuple[str, str]] = ("Newer", "Older")
    # Whether the first page follows what happens.
    live = False

    def rows(self, params: Mapping[str, str]) -> QuerySet[Row]:
        """The rows that the parameters leave."""
        raise NotImplementedError

    def more(self, page: Page[Row]) -> dict[str, Any]:
        """What the template needs beside the rows."""
        return {}

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page of rows that the address asks for."""
        page = page_read(self.rows(request.GET), request.GET, key=self.key, descending=self.descending)
        given = {name: request.GET.get(name, "") for name in (*self.filters, *self.linked)}
        return self.show(
            {
                "page": page,
                "heading": self.heading,
                "noun": self.noun,
                "search": self.search,
                "ways": self.ways,
                "live": self.live,
                "filters": given,
                "filtered": any(given.values()),
                "linked": [self._narrowed(name, given[name]) for name in self.linked if given[name]],
                **self.more(page),
            }
        )

    def _narrowed(self, name: str, value: str) -> Narrowed:
        params = self.request.GET.copy()
        for gone in (name, "after", "before"):
            params.pop(gone, None)
        return Narrowed(name, value, f"{self.request.path}?{params.urlencode()}")
