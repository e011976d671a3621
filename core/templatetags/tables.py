"""Template tags of tables and lists: the table, its columns, rows to choose, addresses of other filters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest
from django.template.base import FilterExpression, NodeList, Parser, Token
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

_PAGING = ("after", "before")


@dataclass
class Table(template.Node):
    """A table: `{% table caption look %}`, its columns, `{% rows %}`, its rows, `{% endtable %}`.

    The caption is for screen readers. `look` is any of table-hover (a row leads somewhere), stacked (a row
    is a block on a phone) and a class of the table's own.
    """

    caption: FilterExpression
    look: FilterExpression | None
    columns: NodeList
    rows: NodeList

    def render(self, context: template.Context) -> SafeString:
        """The table as HTML."""
        return format_html(
            '<table class="table rows {}"><caption class="visually-hidden">{}</caption>'
            "<thead><tr>{}</tr></thead><tbody>{}</tbody></table>",
            self.look.resolve(context) if self.look else "",
            self.caption.resolve(context),
            self.columns.render(context),
            self.rows.render(context),
        )


@register.tag
def table(parser: Parser, token: Token) -> Table:
    """Reads a table. TemplateSyntaxError without a caption."""
    name, *words = token.split_contents()
    if len(words) not in (1, 2):
        raise template.TemplateSyntaxError(f"{name} takes a caption, and a look.")
    columns = parser.parse(("rows",))
    parser.delete_first_token()
    rows = parser.parse(("endtable",))
    parser.delete_first_token()
    given = [parser.compile_filter(word) for word in words]
    return Table(given[0], given[1] if len(given) > 1 else None, columns, rows)


@register.simple_tag(takes_context=True)
def column(
    context: Mapping[str, Any], words: str, look: str = "", *, sort: str = "", unseen: bool = False
) -> SafeString:
    """The head of a column. Its cells have the same look: number, from-md (away on a phone), from-lg.

    With `sort` it is a link by which its list is ordered (core/lists.py, `sorts`) and turned round. With
    `unseen` its words are for screen readers: what is in the cells speaks for itself.
    """
    sorting = context.get("sorting")
    if unseen:
        return format_html(
            '<th scope="col" class="{}"><span class="visually-hidden">{}</span></th>', look, words
        )
    if sorting is None or not sort:
        return format_html('<th scope="col" class="{}">{}</th>', look, words)
    active = sorting.name == sort
    way = ("descending" if sorting.descending else "ascending") if active else "none"
    url = query(context, sort=f"-{sort}" if active and not sorting.descending else sort)
    return format_html(
        '<th scope="col" class="{}" aria-sort="{}"><a class="sorter" href="{}" hx-get="{}" hx-target="#list"'
        ' hx-select="#list" hx-swap="outerHTML" hx-push-url="true">{}</a></th>',
        look,
        way,
        url,
        url,
        words,
    )


@register.simple_tag
def pick_all() -> SafeString:
    """The head of the column of `pick`: chooses every row (static/js/picks.js)."""
    return SafeString(
        '<th scope="col" class="pick"><input type="checkbox" class="form-check-input js-only" data-pick-all'
        ' aria-label="Choose all"></th>'
    )


@register.simple_tag
def pick(value: object, what: str) -> SafeString:
    """A box that chooses a row for what components/bulk.html offers."""
    return format_html(
        '<input type="checkbox" class="form-check-input" name="pick" value="{}" form="bulk" data-pick'
        ' aria-label="Choose {}">',
        value,
        what,
    )


@register.simple_tag(takes_context=True)
def query(context: Mapping[str, Any], **changes: Any) -> str:
    """The page's query string with some parameters changed; None or "" leaves one out. Paging starts anew."""
    request: HttpRequest = context["request"]
    # A QueryDict would be copied deeply for it; a page asks for three in each row.
    params = {
        name: values
        for name, values in request.GET.lists()
        if name not in _PAGING and name not in changes and values[-1] != ""
    }
    params |= {name: [str(value)] for name, value in changes.items() if value not in (None, "")}
    return f"?{urlencode(params, doseq=True)}"
