"""Forms on a page, read as a browser reads them and sent as a browser sends them."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from django.test import Client

KEY, VERSION = "form_key", "form_version"
# Fields whose value is not sent, as no button of theirs was pressed.
_BUTTONS = {"submit", "button", "reset", "image"}


@dataclass
class PageForm:
    """A form that is sent by POST: where to, and its fields as they are filled in."""

    action: str
    fields: dict[str, list[str]] = field(default_factory=dict)

    def filled(self, **changes: Any) -> dict[str, Any]:
        """What the form sends, with some fields changed; None leaves one out."""
        sent: dict[str, Any] = {name: list(values) for name, values in self.fields.items()} | changes
        return {name: value for name, value in sent.items() if value is not None}

    def send(self, client: Client, **changes: Any) -> Any:
        """Sends it."""
        return client.post(self.action, self.filled(**changes))


class _Reader(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__()
        self.url, self.forms = url, list[PageForm]()
        self.here: PageForm | None = None
        self.select = self.area = ""
        self.text = ""
        self.first: str | None = None
        self.chosen = list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form" and given.get("method") == "post":
            self.here = PageForm((given.get("action") or self.url).partition("#")[0])
            self.forms.append(self.here)
        if self.here is None:
            return
        name, value = given.get("name") or "", given.get("value")
        if tag == "input" and name:
            kind = given.get("type", "text")
            if kind in {"checkbox", "radio"}:
                if "checked" in given:
                    self._add(name, value or "on")
            elif kind not in _BUTTONS and kind != "file":
                self._add(name, value or "")
        elif tag == "button" and name:
            self.here.fields.setdefault(name, [value or ""])
        elif tag == "select":
            self.select, self.first, self.chosen = name, None, []
        elif tag == "option" and self.select:
            self.first = (value or "") if self.first is None else self.first
            if "selected" in given:
                self.chosen.append(value or "")
        elif tag == "textarea":
            self.area, self.text = name, ""

    def handle_data(self, data: str) -> None:
        if self.area:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.here = None
        elif tag == "select" and self.select and self.here:
            self.here.fields[self.select] = self.chosen or [self.first or ""]
            self.select = ""
        elif tag == "textarea" and self.area and self.here:
            self._add(self.area, self.text.removeprefix("\n"))
            self.area = ""

    def _add(self, name: str, value: str) -> None:
        assert self.here
        self.here.fields.setdefault(name, []).append(value)


def forms_read(html: str, url: str) -> list[PageForm]:
    """The forms of a page that are sent by POST."""
    reader = _Reader(url)
    reader.feed(html)
    return reader.forms


def form_on(client: Client, url: str, action: str = "") -> PageForm:
    """The form of a page that is sent to `action`; without one to the page itself."""
    answer = client.get(url)
    assert answer.status_code == 200, (url, answer.status_code)
    path = action or url.partition("?")[0]
    return next(one for one in forms_read(answer.content.decode(), path) if one.action == path)
