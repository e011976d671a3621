"""Template filter of sentences whose values stand out (core/sentences.py); a builtin of the engine."""

from collections.abc import Iterable
from datetime import datetime

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from core.sentences import Part
from core.templatetags.console import moment

register = template.Library()


@register.filter
def sentence(parts: Iterable[Part]) -> SafeString:
    """A filled sentence as HTML: values are set off from its words, moments in the reader's time zone."""
    return format_html_join("", "{}", ((_part(part),) for part in parts))


def _part(part: Part) -> str:
    if not part.name:
        return part.text
    if part.form == "time":
        try:
            return moment(datetime.fromisoformat(part.text), form="full")
        except ValueError:
            return part.text
    return format_html("<b>{}</b>", part.text)
