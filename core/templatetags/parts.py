"""Template tags of what every page is laid out with: its head, and cards."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.template.loader_tags import BLOCK_CONTEXT_KEY, BlockContext
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from core.submissions.pages import FIELD, form_key_new

register = template.Library()


@dataclass
class Head(template.Node):
    """The head of a page: `{% head %}`, a sentence, `{% acts %}`, buttons and states, `{% endhead %}`.

    The sentence and the acts may be left out. The heading is the block `title` of the page, or what is given:
    `{% head run.tool %}`. Further words: `up` (the name of the route above) and `words` (how it is called),
    `here` and `here_url` (the page between), `name` (shown beside the heading; of a UUID the end) and `copy`
    (what `name` is, where it can be copied).
    """

    child_nodelists = ("text", "acts")
    title: FilterExpression | None
    given: dict[str, FilterExpression]
    text: NodeList
    acts: NodeList

    def render(self, context: template.Context) -> SafeString:
        """The head as HTML."""
        given: dict[str, Any] = {word: value.resolve(context) for word, value in self.given.items()}
        given["title"] = self.title.resolve(context) if self.title else _block(context, "title")
        given["shortened"] = isinstance(given.get("name"), UUID)
        given |= {"text": _stripped(self.text, context), "acts": _stripped(self.acts, context)}
        engine = context.template.engine  # type: ignore[union-attr]
        return engine.get_template("components/page_head.html").render(context.new(given))


def _block(context: template.Context, name: str) -> SafeString:
    """What a block of the page says, at another place of it."""
    blocks: BlockContext = context.render_context[BLOCK_CONTEXT_KEY]
    return _stripped(blocks.get_block(name).nodelist, context)


def _stripped(nodes: NodeList, context: template.Context) -> SafeString:
    """What the nodes say, without the white space around; empty where they say nothing."""
    return SafeString(nodes.render(context).strip())


@register.tag
def head(parser: Parser, token: Token) -> Head:
    """Reads the head of a page. TemplateSyntaxError for a word that it does not know."""
    name, *words = token.split_contents()
    title = parser.compile_filter(words.pop(0)) if words and "=" not in words[0] else None
    given = token_kwargs(words, parser)
    if words or set(given) - {"up", "words", "here", "here_url", "name", "copy"}:
        raise template.TemplateSyntaxError(f"{name} does not take {token.contents}.")
    text, acts = _halves(parser, "acts", "endhead")
    return Head(title, given, text, acts)


@dataclass
class Card(template.Node):
    """A card: `{% card anchor title %}`, what stands in it, `{% endcard %}`; links lead to its anchor.

    What belongs beside its title comes first and ends with `{% body %}`. `look` is a class of its own.
    """

    child_nodelists = ("beside", "body")
    anchor: FilterExpression
    title: FilterExpression
    look: FilterExpression | None
    beside: NodeList
    body: NodeList

    def render(self, context: template.Context) -> SafeString:
        """The card as HTML."""
        anchor = self.anchor.resolve(context)
        return format_html(
            '<section class="card {}" aria-labelledby="{}"><div class="card-header">'
            '<h2 class="card-title" id="{}">{}</h2>{}</div>{}</section>',
            self.look.resolve(context) if self.look else "",
            anchor,
            anchor,
            self.title.resolve(context),
            self.beside.render(context),
            self.body.render(context),
        )


@register.tag
def card(parser: Parser, token: Token) -> Card:
    """Reads a card. TemplateSyntaxError without anchor and title."""
    name, *words = token.split_contents()
    if len(words) not in (2, 3):
        raise template.TemplateSyntaxError(f"{name} takes an anchor, a title, and a look.")
    given = [parser.compile_filter(word) for word in words]
    beside, body = _halves(parser, "body", "endcard")
    if not body:
        beside, body = body, beside
    return Card(given[0], given[1], given[2] if len(given) > 2 else None, beside, body)


def _halves(parser: Parser, between: str, end: str) -> tuple[NodeList, NodeList]:
    """What stands before the tag `between` and what after it, up to `end`; without it all stands before."""
    before = parser.parse((between, end))
    if parser.next_token().contents == end:
        return before, NodeList()
    after = parser.parse((end,))
    parser.delete_first_token()
    return before, after


@register.simple_tag(takes_context=True)
def hidden(context: template.Context, form: Any = None) -> SafeString:
    """The hidden fields of a form that is sent by POST: CSRF token, one-time key, and the version it edits.

    `form` has `hidden_values`; a button without a form needs none.
    """
    values = form["hidden_values"] if isinstance(form, dict) else getattr(form, "hidden_values", None)
    fields = {"csrfmiddlewaretoken": context.get("csrf_token", ""), **(values or {FIELD: form_key_new()})}
    # Browsers fill in what was there before a page was loaded again; these are never the same.
    return format_html_join(
        "", '<input type="hidden" name="{}" value="{}" autocomplete="off">', fields.items()
    )


@register.filter
def counted(amount: int, noun: str) -> str:
    """An amount with its noun: 1 tool, 1,234 tools."""
    return f"{intcomma(amount)} {noun}{'' if amount == 1 else 's'}"
