"""Conditions of grants, and limits, in words."""

from django import template

from security.conditions import condition_words
from security.decisions import limit_words

register = template.Library()
register.filter("condition_words", condition_words)
register.filter("limit_words", limit_words)
