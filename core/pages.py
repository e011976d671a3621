"""What the console's pages share: who may see them, page and part in one template, keyset paging."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.db.models import F, QuerySet
from django.db.models.expressions import CombinedExpression, OrderBy
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views import View
from django_htmx.http import HttpResponseClientRefresh
from django_htmx.middleware import HtmxDetails

from core.errors import Denied, InvalidRequest, NotFound, Postponed
from core.keyset import Row, key_read
from core.submissions.pages import form_once
from core.views_errors import method_not_allowed

PAGE_ROWS = 25


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Some rows of a list, and the cursors of its neighbours: None where there is none."""

    rows: list[Row]
    before: str | None
    after: str | None

    @property
    def is_first(self) -> bool:
        return self.before is None


def page_read(
    rows: QuerySet[Row],
    params: Mapping[str, str],
    *,
    key: str = "pk",
    descending: bool = True,
    count: int = PAGE_ROWS,
    by: F | CombinedExpression | None = None,
) -> Page[Row]:
    """The rows that `?after=` or `?before=` ask for, by a unique key; the first ones without.

    Costs one query however deep the page lies. A cursor that makes no sense is left aside. `by` is an
    expression that orders as the key does, for lists that must not be read along the index of the key.
    """
    after, before = _cursor(rows, key, params.get("after")), _cursor(rows, key, params.get("before"))
    down, up = ("lt", "gt") if descending else ("gt", "lt")
    by = by or F(key)
    ahead, back = (OrderBy(by, descending=descending), OrderBy(by, descending=not descending))
    if before is not None:
        found = list(rows.filter(**{f"{key}__{up}": before}).order_by(back)[: count + 1])
        more_before, more_after = len(found) > count, True
        found = found[:count][::-1]
    else:
        here = rows if after is None else rows.filter(**{f"{key}__{down}": after})
        found = list(here.order_by(ahead)[: count + 1])
        more_before, more_after = after is not None, len(found) > count
        found = found[:count]
    first, last = (str(getattr(found[0], key)), str(getattr(found[-1], key))) if found else ("", "")
    return Page(found, first if found and more_before else None, last if found and more_after else None)


def _cursor(rows: QuerySet[Row], key: str, given: str | None) -> Any:
    with contextlib.suppress(InvalidRequest):
        return key_read(rows, key, given) if given else None
    return None


def cursor_fits(rows: QuerySet[Any], key: str, given: str) -> bool:
    """Return whether a text is a key of the rows, so that a page can begin there."""
    return _cursor(rows, key, given) is not None


class ConsoleRequest(HttpRequest):
    """A request as the middleware leaves it."""

    htmx: HtmxDetails


class ConsoleView(View):
    """A page for signed-in people who hold `permission`, if only on some object; for others it is not there.

    Its template extends `base`: the whole page, or on an htmx request only its block `part`.
    """

    permission = ""
    template = ""
    # False where `post` makes sure itself that a form which is sent twice is carried out once.
    carries_out_once = True
    request: ConsoleRequest

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Asks who it is first. Answers differ for htmx and are never stored: others may not see them."""
        user = request.user
        if not user.is_authenticated:
            if self.request.htmx:
                return HttpResponseClientRefresh()
            return redirect_to_login(request.get_full_path())
        if self.permission and not user.holds(self.permission):
            raise Http404
        try:
            if self.carries_out_once:
                response = form_once(self.request, lambda: self._kept(request, *args, **kwargs))
            else:
                response = self._kept(request, *args, **kwargs)
        except (NotFound, Denied) as error:
            raise Http404 from error
        patch_vary_headers(response, ("HX-Request", "Cookie"))
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    def _kept(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answers, or keeps a change that waits for somebody else and leads to it."""
        try:
            return self.handle(request, *args, **kwargs)
        except Postponed as error:
            response = redirect(error.keep())
            messages.info(request, f"{error.message} {' '.join(error.suggestions)}")
            return response

    def handle(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Calls the method's handler."""
        return super().dispatch(request, *args, **kwargs)

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """A page that says so, not the empty one of Django."""
        allowed = [name.upper() for name in self.http_method_names if hasattr(self, name)]
        return method_not_allowed(request, allowed)

    def show(self, context: Mapping[str, Any] | None = None, *, status: int = 200) -> HttpResponse:
        """Renders the page, or its part."""
        return render(self.request, self.template, dict(context or {}), status=status)
