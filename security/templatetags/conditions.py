"""Conditions of grants in words."""

from django import template

from security.conditions import condition_words

register = template.Library()
register.filter("condition_words", condition_words)
