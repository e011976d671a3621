"""The kinds of messages: upper layers say how a body is made and signed. One line registers a kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from core.outbox.models import Delivery


class Undeliverable(Exception):
    """The message may or can no longer be sent: the delivery ends failed. The text says why."""


class NotNow(Exception):
    """The message cannot be made at the moment: the try counts as failed. The text says why."""


@dataclass(frozen=True)
class Message:
    """What is sent: the body's exact bytes (the same in every try), and the keys that sign it."""

    body: bytes
    keys: Sequence[bytes]


@dataclass(frozen=True)
class Mail:
    """A mail to several people, none of whom reads who the others are."""

    subject: str
    text: str
    to: Sequence[str]


@dataclass(frozen=True)
class Try:
    """How one try went. `error` is empty when it was delivered; `next_at` is None when no try follows."""

    attempt: int
    status: int | None
    error: str
    next_at: datetime | None

    @property
    def delivered(self) -> bool:
        return not self.error


class Kind(Protocol):
    """How one kind of message is made: by `message` for an address, or by `mail`."""

    name: str

    def told(self, delivery: Delivery, news: Try) -> None:
        """Hears of each try that was recorded, in the transaction that records it."""
        ...


@runtime_checkable
class Posted(Kind, Protocol):
    """What is posted to an address."""

    def message(self, delivery: Delivery) -> Message:
        """Body and keys, now. Raises Undeliverable and NotNow."""
        ...


@runtime_checkable
class Mailed(Kind, Protocol):
    """What goes by mail."""

    def mail(self, delivery: Delivery) -> Mail:
        """The mail, now. Raises Undeliverable and NotNow."""
        ...


KINDS: dict[str, Kind] = {}


def kind_register(kind: Kind) -> None:
    """Makes a kind known; called when Django starts."""
    KINDS[kind.name] = kind
