"""Output filters: secrets and what an admin's patterns match are taken out of what tools say.

A secret is looked for as it is and as JSON, URL encoding, hex, HTML and base64 write it, there also within a
longer text. Two parts that are sent one after the other are two texts.
"""

import base64
import html
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Protocol
from urllib.parse import quote, quote_plus

MARK = "[redacted]"
# Shorter ones could not be told from other text.
BARE_LEAST = 8
_ACTIVE: "ContextVar[Redactor | None]" = ContextVar("redactor", default=None)


class Searching(Protocol):
    def sub(self, repl: str, string: str, /) -> str:
        """The text with all matches replaced."""
        ...


class Redactor:
    """Replaces secrets and matches of patterns in texts and JSON values."""

    def __init__(self, secrets: Iterable[str], patterns: Sequence[Searching] = ()) -> None:
        given = tuple(secrets)
        # A header is sent without the white space around it, which a pasted token may have.
        bare = (each.strip() for each in given)
        self._secrets = tuple(dict.fromkeys((*given, *(each for each in bare if len(each) >= BARE_LEAST))))
        self._lines = tuple(dict.fromkeys(line for each in given for line in lines_of(each)))
        self._patterns = tuple(patterns)

    def __bool__(self) -> bool:
        return bool(self._secrets or self._patterns)

    @cached_property
    def _forms(self) -> list[str]:
        """The longest first, so that none is cut by a shorter one."""
        forms = {form for secret in self._secrets for form in forms_of(secret)}
        forms |= {form for line in self._lines for form in (*forms_of(line), *_url_texts(line))}
        return sorted(forms, key=len, reverse=True)

    @cached_property
    def _encoded(self) -> list[re.Pattern[str]]:
        return [pattern for secret in self._secrets for pattern in _url_forms(secret)]

    @cached_property
    def _written(self) -> set[str]:
        """The forms as they stand within a text of a JSON document."""
        return {json.dumps(form, ensure_ascii=False)[1:-1] for form in self._forms}

    @cached_property
    def lines_most(self) -> int:
        """The bytes of the longest form that goes over several lines; 0 where none does."""
        return max((len(form.encode()) for form in self._forms if "\n" in form), default=0)

    @cached_property
    def bytes_most(self) -> int:
        """The bytes of the longest form."""
        written = [len(form.encode()) for form in self._forms]
        return max([*written, *(3 * len(secret.encode()) for secret in self._secrets)], default=0)

    def may_be_in(self, document: str) -> bool:
        """Whether a JSON document is to be searched value by value: quick to say no of a large one."""
        if self._patterns or any(form in document for form in self._written):
            return True
        return any(pattern.search(document) for pattern in self._encoded)

    def text(self, text: str) -> str:
        """The text without them."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MARK)
        for pattern in (*self._encoded, *self._patterns):
            text = pattern.sub(MARK, text)
        return text

    def is_in(self, content: bytes) -> bool:
        """Whether one of them is in a file."""
        text = content.decode(errors="replace")
        return self.text(text) != text

    def value(self, value: Any) -> Any:
        """A JSON value without them, also in names and numbers. The same object where none is in it."""
        if isinstance(value, str):
            cleared = self.text(value)
            return value if cleared == value else cleared
        if isinstance(value, Mapping):
            pairs = {self.text(name): self.value(one) for name, one in value.items()}
            same = pairs.keys() == value.keys() and all(pairs[name] is one for name, one in value.items())
            return value if same else pairs
        if isinstance(value, (list, tuple)):
            items = [self.value(one) for one in value]
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value if self.text(str(value)) == str(value) else MARK
        return value


def lines_of(secret: str) -> list[str]:
    """The lines of a secret of several, each as secret as the whole; not short ones, nor what frames a key.

    A key within JSON has its line breaks as escapes, and real ones once a tool has read it.
    """
    lines = [line.strip() for line in _LINE_BREAK.split(secret)]
    if len(lines) < 2:
        return []
    return [line for line in lines if len(line) >= BARE_LEAST and not _FRAME.search(line)]


def forms_of(secret: str) -> set[str]:
    """The ways in which a secret may be written."""
    raw = secret.encode()
    escaped = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    inner = {_base64(raw, offset, encode) for offset in range(3) for encode in _ENCODINGS}
    return {secret, raw.hex(), raw.hex().upper(), html.escape(secret), *escaped, *inner}


_LINE_BREAK = re.compile(r"\r\n|\r|\n|\\r\\n|\\n")
_FRAME = re.compile(r"-----(?:BEGIN|END) ")
_HEX = re.compile(r"%[0-9A-F]{2}")
_ENCODINGS = (base64.b64encode, base64.urlsafe_b64encode)


def _base64(raw: bytes, offset: int, encode: Any) -> str:
    """What base64 makes of the secret behind so many other bytes: the signs that are all its own."""
    text: str = encode(b"\0" * offset + raw).decode()
    return text[(offset * 8 + 5) // 6 : (offset + len(raw)) * 8 // 6]


def _url_forms(secret: str) -> list[re.Pattern[str]]:
    """URL encodings, where they differ from the text; hex digits may be small or large."""
    encoded = _url_encoded(secret)
    return [re.compile(_HEX.sub(r"(?i:\g<0>)", re.escape(text))) for text in sorted(encoded, key=len)[::-1]]


def _url_texts(line: str) -> set[str]:
    """The same as texts, with all hex digits small or all large: a key has hundreds of lines."""
    encoded = _url_encoded(line)
    return encoded | {_HEX.sub(lambda found: found.group().lower(), text) for text in encoded}


def _url_encoded(secret: str) -> set[str]:
    return {quote(secret, safe=""), quote(secret), quote_plus(secret)} - {secret}


@contextmanager
def hiding(redactor: Redactor | None) -> Iterator[None]:
    """What is logged inside, by whomever, is logged without them."""
    mark = _ACTIVE.set(redactor)
    try:
        yield
    finally:
        _ACTIVE.reset(mark)


_make = logging.getLogRecordFactory()


def _record(*args: Any, **kwargs: Any) -> logging.LogRecord:
    record = _make(*args, **kwargs)
    redactor = _ACTIVE.get()
    if redactor is not None:
        record.msg, record.args = redactor.text(record.getMessage()), ()
        if record.exc_info:
            # Handlers print the text where there is one.
            record.exc_text = redactor.text(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        if record.stack_info:
            record.stack_info = redactor.text(record.stack_info)
    return record


def records_watch() -> None:
    """Has every log record of this process made so; called when Django starts."""
    if logging.getLogRecordFactory() is not _record:
        logging.setLogRecordFactory(_record)
