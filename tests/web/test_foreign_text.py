"""Characters that nobody sees, or that turn a text's direction, stand raw on no page and in no text."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.core import mail as outbox
from django.core.management import get_commands, load_command_class
from django.db import DatabaseError, models, transaction
from django.http import HttpResponse
from django.test import RequestFactory

from core.commands import VisibleCommand
from core.log_format import LineFormatter
from core.middleware import VisibleTextMiddleware
from core.outbox.kinds import Mail
from core.outbox.send import _mail
from execution.features.artefacts.download import artefact_response
from execution.features.artefacts.models import Artefact, Content
from tests.web.world import World, routes
from toolhub_sdk.visible_text import page_seen, text_seen

CHARACTERS = [
    *map(chr, (*range(9), 11, 12, *range(14, 32), *range(0x7F, 0xA0))),
    *"\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2028\u2029\u2066\u2067\u2068\u2069\ufeff",
]
"""Control characters but tab and line ends; those of UAX #9; and some that take no space."""
PLANTED = "".join(CHARACTERS[1:])  # U+0000 is in no text of a database
OURS = ("core", "audit", "security", "registry", "execution", "monitoring")
SAID = {"title", "description", "message", "reason", "name", "text", "note", "author", "license", "homepage"}


def planted(value: Any, key: str = "") -> Any:
    """A JSON value with the characters in each text that a person reads."""
    if isinstance(value, dict):
        return {name: planted(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [planted(each, key) for each in value]
    return f"{value}{PLANTED}" if isinstance(value, str) and key in SAID - {"name"} else value


def fields(model: type[models.Model]) -> "Iterator[models.Field[Any, Any]]":
    """The columns of a table in which somebody's words stand: not keys, choices, names in addresses."""
    for field in model._meta.concrete_fields:
        words = isinstance(field, (models.CharField, models.TextField)) and not isinstance(
            field, models.UUIDField
        )
        fixed = field.unique or field.choices or field.primary_key or field.name in FIXED
        if (words or isinstance(field, models.JSONField)) and not fixed:
            yield field


FIXED = {
    *(
        "version",
        "digest",
        "password",
        "sealed",
        "kind",
        "state",
        "tool",
        "capability",
        "scope",
        "timezone",
        "cron",
    ),
    *("runner", "username", "queue", "expression", "pattern", "conditions", "capabilities", "values", "name"),
    *(
        "canonical",
        "hash",
        "prefix",
        "session",
        "url",
        "type",
        "status",
        "flag",
        "format",
        "session_id",
        "loop_id",
    ),
}


def plant() -> int:
    """Writes the characters into every such column of every row; returns how many columns took them."""
    count = 0
    for model in apps.get_models():
        if model.__module__.split(".")[0] not in OURS:
            continue
        for row in model._default_manager.all()[:20]:
            for field in fields(model):
                value = getattr(row, field.attname)
                new = planted(value) if isinstance(field, models.JSONField) else f"{value}{PLANTED}"
                if not value or new == value or (field.max_length and len(new) > field.max_length):
                    continue
                try:
                    with transaction.atomic():
                        count += model._default_manager.filter(pk=row.pk).update(**{field.name: new})
                except DatabaseError:  # a trigger keeps it
                    pass
    return count


@pytest.mark.django_db
def test_no_page_holds_one(world: World, call: Any, subtests: Any) -> None:
    call("fx_echo", {"value": PLANTED + "\0"})
    assert plant() > 20
    client, shown = world.client("admin"), 0
    for route in routes():
        if "get" not in route.methods or route.pattern.startswith(("api/", "mcp")):
            continue
        with subtests.test(route=route.name):
            try:
                answer = client.get(world.address(route), {"q": PLANTED})
            except Exception as error:  # noqa: BLE001 - planted nonsense may break a page, which is not the point
                pytest.skip(f"{type(error).__name__}")
            if answer.streaming or not answer.headers.get("Content-Type", "").startswith("text/"):
                continue
            text = answer.content.decode()
            assert [ascii(char) for char in CHARACTERS if char in text] == []
            shown += "\\u202e" in text
    assert shown > 20


@pytest.mark.django_db
def test_what_a_tool_returns_is_shown_with_escapes(world: World, fx: Any, call: Any) -> None:
    run = call("fx_kinds", {"text": "a\u202eb\x1bc\x9bd"}).json()["metadata"]["run_id"]
    page = world.client("admin").get(f"/runs/{run}/").content.decode()
    assert "a\\u202eb\\u001bc\\u009bd" in page


@pytest.mark.parametrize("chars", [CHARACTERS[:40], CHARACTERS[40:]], ids=["first", "rest"])
def test_each_way_out_shows_each_of_them(chars: list[str], subtests: Any) -> None:
    for char in chars:
        with subtests.test(char=ascii(char)):
            shown_check(char)


def shown_check(char: str) -> None:
    foreign = f"a{char}b"
    escape = f"a\\u{ord(char):04x}b".replace("\\u0008", "\\b").replace("\\u000c", "\\f")
    assert text_seen(foreign) == page_seen(foreign) == escape
    answer = VisibleTextMiddleware(lambda _: HttpResponse(f"<p title='{foreign}'>{foreign}"))(
        RequestFactory().get("/")
    )
    assert answer.content.decode() == f"<p title='{escape}'>{escape}"
    record = logging.LogRecord("x", logging.INFO, "", 1, foreign, (), None)
    assert LineFormatter("%(message)s").format(record) == escape
    artefact = Artefact(name=f"{foreign}.txt", content=Content(pk="0" * 64, content=b""))
    assert artefact_response(artefact)[
        "Content-Disposition"
    ] == f'attachment; filename="{escape}.txt"'.replace("\\", "\\\\")


def test_joiners_of_scripts_and_emoji_stay_on_pages() -> None:
    family = "👩\u200d👧 ❤\ufe0f می\u200cخواهم"
    assert page_seen(family) == family


def test_mail_and_commands_show_them(settings: Any, tmp_path: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    _mail(Mail("a\u202eb", "c\x1bd\n", ("a@example.org",)))
    [sent] = outbox.outbox
    assert (sent.subject, sent.body) == ("a\\u202eb", "c\\u001bd\n")


def test_every_command_that_prints_foreign_text_has_the_base() -> None:
    installed = {name for name, app in get_commands().items() if app == "registry"}
    assert all(isinstance(load_command_class("registry", name), VisibleCommand) for name in installed)
    assert installed
