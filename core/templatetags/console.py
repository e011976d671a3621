"""Template tags and filters that every page of the console has (a builtin of the engine)."""

import functools
import itertools
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from django import template
from django.conf import settings
from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from core.units import duration_words
from toolhub_sdk.visible_text import text_seen

register = template.Library()
register.filter(intcomma)

ICON_NAME = re.compile(r"[a-z0-9-]+")
CODE = re.compile(r"`([^`\n]+)`")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Of a text that differs: what is shown around the place, and at most.
AROUND = 60
DIFFERENCE_CHARACTERS = 2_000
SHOWN_CHARACTERS = 12_000


def _icon_body(name: str) -> str:
    """What stands inside an icon's <svg>, from the vendored file."""
    if not ICON_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no icon's name.")
    source = (settings.ROOT / "static" / "vendor" / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    paths = re.findall(r"<(?:path|circle|rect|line)[^<>]*/>", source)
    return "".join(path for path in paths if 'd="M0 0h24v24H0z"' not in path)


@register.simple_tag
@functools.cache
def icon(name: str, extra: str = "") -> SafeString:
    """An outline icon of Tabler, for the eye only. FileNotFoundError for one not in static/icons.txt."""
    # The body comes from our own vendored files, never from data.
    body = mark_safe(_icon_body(name))  # noqa: S308
    return format_html(
        '<svg class="icon {}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2"'
        ' stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">{}</svg>',
        extra,
        body,
    )


# A state's icon and tone; the words are the state's own.
STATES: Mapping[str, tuple[str, str]] = {
    "completed": ("circle-check", "good"),
    "failed": ("circle-x", "bad"),
    "timeout": ("clock", "bad"),
    "cancelled": ("ban", "idle"),
    "pending": ("hourglass", "busy"),
    "running": ("player-play", "busy"),
    "awaiting_approval": ("user", "busy"),
    "waiting_retry": ("refresh", "busy"),
    "waiting_steps": ("hourglass", "busy"),
    "awaiting_person": ("user", "warn"),
    "outcome_unknown": ("alert-triangle", "warn"),
    "waiting": ("hourglass", "idle"),
    "queued": ("hourglass", "busy"),
    "delivered": ("circle-check", "good"),
    "active": ("circle-check", "good"),
    "published": ("circle-check", "good"),
    "installed": ("circle-check", "good"),
    "in use": ("circle-check", "good"),
    "awaiting review": ("user", "busy"),
    "uninstalled": ("ban", "idle"),
    "valid": ("circle-check", "good"),
    "allowed": ("circle-check", "good"),
    "on": ("circle-check", "good"),
    "gone": ("ban", "idle"),
    "this one": ("circle-check", "good"),
    "deprecated": ("alert-triangle", "warn"),
    "expired": ("clock", "idle"),
    "ended": ("ban", "idle"),
    "revoked": ("ban", "idle"),
    "off": ("ban", "idle"),
    "yanked": ("ban", "bad"),
    "withdrawn": ("ban", "bad"),
    "quarantined": ("lock", "bad"),
    "denied": ("lock", "bad"),
    "tiers": ("users", "busy"),
    "low": ("circle-check", "good"),
    "medium": ("alert-triangle", "idle"),
    "high": ("alert-triangle", "warn"),
    "critical": ("alert-triangle", "bad"),
    "held": ("circle-check", "good"),
    "under conditions": ("alert-triangle", "warn"),
    "restricted": ("lock", "bad"),
    "not held": ("circle-dashed", "idle"),
    "paused": ("player-pause", "warn"),
    "approved": ("circle-check", "good"),
    "pass": ("circle-check", "good"),
    "warn": ("alert-triangle", "warn"),
    "fail": ("lock", "bad"),
    "ask": ("user", "busy"),
    "up": ("circle-check", "good"),
    "down": ("circle-x", "bad"),
    "silent": ("alert-triangle", "warn"),
    "holds": ("circle-check", "good"),
    "missing": ("alert-triangle", "warn"),
    "ok": ("circle-check", "good"),
    "accepted": ("circle-check", "good"),
    "refused": ("circle-x", "bad"),
    "unclear": ("alert-triangle", "warn"),
    "unreachable": ("alert-triangle", "warn"),
    "invalid": ("circle-x", "bad"),
    "suspect": ("alert-triangle", "warn"),
    "untested": ("circle-dashed", "idle"),
    "debug": ("circle-dashed", "idle"),
    "info": ("info-circle", "busy"),
    "warning": ("alert-triangle", "warn"),
    "error": ("circle-x", "bad"),
}


@register.simple_tag
def state(value: str) -> SafeString:
    """A state as icon and words, never by colour alone."""
    name, tone = STATES.get(value, ("circle-dashed", "idle"))
    return format_html('<span class="state tone-{}">{}{}</span>', tone, icon(name), words(value or "open"))


@register.simple_tag(takes_context=True)
def tab(context: Mapping[str, Any], words: str, url_name: str, *args: object) -> SafeString:
    """A link of components/tabs.html; it says when it is the page at hand."""
    url = reverse(url_name, args=args)
    here = "page" if context["request"].path == url else "false"
    return format_html('<a class="tab" href="{}" aria-current="{}">{}</a>', url, here, words)


@register.simple_tag
def copy(value: object, what: str) -> SafeString:
    """A button that copies the value (static/js/copy.js); hidden without JavaScript."""
    return format_html(
        '<button type="button" class="copy" data-copy="{}" aria-label="Copy {}" title="Copy {}">{}</button>',
        value,
        what,
        what,
        icon("copy"),
    )


@register.simple_tag
def copy_json(value: Any, what: str) -> SafeString:
    """A button that copies the whole JSON value, or nothing where a page would grow too large by it."""
    text = _json(value, orjson.OPT_INDENT_2)
    return copy(text, what) if len(text) <= SHOWN_CHARACTERS else SafeString("")


@register.simple_tag
def ask(
    words: str,
    icon_name: str,
    url_name: str,
    *args: object,
    about: str = "",
    look: str = "btn btn-sm",
    worded: bool = False,
) -> SafeString:
    """A button that leads to a question (core/questions.py): in a dialog, without JavaScript on its page.

    With `about` it is an icon alone, or `worded`, and says for a screen reader what it is about.
    """
    url = reverse(url_name, args=args)
    spoken = f"{words} {about}" if about else words
    return format_html(
        '<a class="{}" href="{}" hx-get="{}" hx-target="#confirm" title="{}" aria-label="{}">{} {}</a>',
        look,
        url,
        url,
        spoken,
        spoken,
        icon(icon_name),
        "" if about and not worded else words,
    )


@register.simple_tag
def moment(at: datetime | None, missing: str = "never", form: str = "ago") -> SafeString:
    """A <time>: UTC without JavaScript, local with it (static/js/times.js); the exact value on hover.

    `form` is "ago" (3 min ago), "clock" (14:03:07.120) or "full".
    """
    if at is None:
        return format_html('<span class="text-secondary moment">{}</span>', missing)
    utc = at.astimezone(UTC)
    exact = utc.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC"
    text = {"ago": _distance(at), "clock": exact[11:23], "full": exact[:19]}[form]
    return format_html(
        '<time datetime="{}" title="{}" data-time="{}">{}</time>',
        utc.isoformat(timespec="milliseconds"),
        exact,
        form,
        text,
    )


def _distance(at: datetime) -> str:
    seconds = (timezone.now() - at).total_seconds()
    size = abs(seconds)
    for limit, unit, word in (
        (60, 1, "s"),
        (3600, 60, "min"),
        (86_400, 3600, "h"),
        (float("inf"), 86_400, "d"),
    ):
        if size < limit:
            amount = f"{int(size // unit)} {word}"
            return f"{amount} ago" if seconds >= 0 else f"in {amount}"
    raise AssertionError("unreachable")


@register.filter
def ms(value: float | None) -> str:
    """A duration given in ms, with its unit: 0.42 ms, 17 ms, 2.5 s, 3 min."""
    return "–" if value is None else duration_words(value)


@register.filter
def size(value: int | None) -> str:
    """A size given in bytes, with its unit: 512 B, 1 KiB, 1.5 MiB."""
    if value is None:
        return "–"
    amount, units = float(value), ["GiB", "MiB", "KiB", "B"]
    while amount >= 1024 and len(units) > 1:
        amount /= 1024
        units.pop()
    # Three digits tell enough, and four stand before the point at most.
    return f"{amount:.{3 if amount < 1000 else 4}g} {units[-1]}"


@register.filter
def short_id(value: object) -> str:
    """The end of a long id: of a time-ordered one, the random part tells it from its neighbours."""
    text = str(value)
    return text if len(text) <= 12 else f"…{text[-8:]}"


@register.filter(name="hex")
def as_hex(value: bytes | memoryview | None) -> str:
    """Bytes in lower-case hex; empty for none."""
    return bytes(value).hex() if value else ""


@register.filter
def json_pretty(value: Any) -> str:
    r"""JSON on many lines, cut after 12,000 characters so that a page stays small; says so.

    What nobody would see, or what turns the direction of a text, is written as JSON can write it: \u202e.
    """
    text = _json(value, orjson.OPT_INDENT_2)
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS]}\n… {len(text) - SHOWN_CHARACTERS} more characters"


@register.filter
def json_line(value: Any) -> str:
    """JSON on one line, for a default value in a table; as above."""
    return _json(value)


@register.simple_tag
def differing(before: Any, after: Any) -> tuple[str, str]:
    """Two values as a reader compares them: of long texts the part that differs and what is around it."""
    if isinstance(before, str) and isinstance(after, str):
        before, after = text_seen(before), text_seen(after)
        head = _alike(before, after)
        tail = _alike(before[head:][::-1], after[head:][::-1])
        return _around(before, head, tail), _around(after, head, tail)
    shown = [text_seen(value) if isinstance(value, str) else _json(value) for value in (before, after)]
    return _around(shown[0], 0, 0), _around(shown[1], 0, 0)


def _alike(one: str, other: str) -> int:
    """With how many same characters two texts begin."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _around(text: str, head: int, tail: int) -> str:
    """The text without most of its first `head` and its last `tail` characters."""
    start, end = max(0, head - AROUND), len(text) - max(0, tail - AROUND)
    part = text[start:end]
    cut = f"{part[:DIFFERENCE_CHARACTERS]}… {len(part) - DIFFERENCE_CHARACTERS} more characters"
    shown = part if len(part) <= DIFFERENCE_CHARACTERS else cut
    return f"{'… ' if start else ''}{shown}{' …' if end < len(text) else ''}"


def _json(value: Any, option: int = 0) -> str:
    return text_seen(orjson.dumps(value, option=option).decode())


@register.filter
def lookup(mapping: Mapping[Any, Any], key: Any) -> Any:
    """The mapping's value for a key that the template holds; None without one."""
    return mapping.get(key)


@register.filter
def words(value: str) -> str:
    """A value of an enumeration as words: outcome_unknown → outcome unknown."""
    return value.replace("_", " ")


@register.filter
def release_state_word(value: str) -> str:
    """A release's state in the console's words: active → published, yanked → withdrawn."""
    return {"active": "published", "yanked": "withdrawn"}.get(value, value)


@register.filter
def contract_place(pointer: str) -> str:
    """A JSON Pointer into a manifest without the part that every contract's place begins with."""
    return pointer.replace("/_meta/io.toolhub~1contract/", "/")


@register.filter
def coded(value: str) -> SafeString:
    """Text in which `what stands between backticks` is set as code."""
    # Escaped first: only the marks of ours are added.
    return mark_safe(CODE.sub(r"<code>\1</code>", escape(value)))  # noqa: S308


@register.filter
def measure(name: str, value: Any) -> tuple[str, Any]:
    """A measured value with its name in words and its unit: `cpu_ms`, 0.6 → CPU time, 0.60 ms.

    A time of `…_at` is shown as one; a list or an object is JSON. Long texts are cut: after 80 characters,
    of JSON after 200.
    """
    spoken = CAMEL.sub("_", name).lower()
    if spoken.endswith("_ms"):
        stem = spoken.removesuffix("_ms")
        return "CPU time" if stem == "cpu" else words(stem), ms(value)
    if spoken.endswith("_bytes"):
        return words(spoken.removesuffix("_bytes")), size(value)
    if spoken.endswith("_at") and isinstance(value, str):
        return words(spoken.removesuffix("_at")), moment(datetime.fromisoformat(value), form="full")
    if isinstance(value, list | dict):
        return words(spoken), Truncator(_json(value)).chars(200)
    return words(spoken), Truncator(value).chars(80) if isinstance(value, str) else value
