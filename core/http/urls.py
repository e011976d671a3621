"""Reads an address from outside into the parts that are then connected to: nothing parses it again.

A grammar far narrower than RFC 3986: what two parsers could read in two ways is refused.
"""

import re
from dataclasses import dataclass

from core.http.errors import HttpRefused

URL_MAX = 2000
_PORTS = {"http": 80, "https": 443}
_URL = re.compile(
    r"(?P<scheme>https?)://"
    r"(?:(?P<name>[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)|\[(?P<v6>[0-9a-f:.]{2,45})\])"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<target>(?:/[!-\"$->@-\[\]-~]*)?(?:\?[!-\"$-\[\]-~]*)?)",
    re.ASCII,
)
_ORIGIN = re.compile(r"[^/?#]*//[^/?#]*")


@dataclass(frozen=True)
class Url:
    """An absolute http(s) address. `host` is small letters, without brackets; `target` is path and query."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """What the Host header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port: what may be shown, as path and query may hold secrets."""
        return f"{self.scheme}://{self.authority}"


def url_read(text: str) -> Url:
    """The parts of an address. Raises HttpRefused with the reason; no name is looked up here."""
    if len(text) > URL_MAX:
        raise HttpRefused(f"has more than {URL_MAX} characters")
    origin = _ORIGIN.match(text)
    if origin and "@" in origin[0]:
        raise HttpRefused("holds a user name or password")
    if "#" in text:
        raise HttpRefused("has a fragment")
    start = origin[0] if origin else text
    found = _URL.fullmatch(start.lower() + text[len(start) :])
    if not found:
        raise HttpRefused("is no http or https address in plain ASCII")
    scheme, port = found["scheme"], int(found["port"] or _PORTS[found["scheme"]])
    if not 1 <= port <= 65535:
        raise HttpRefused("has a port that does not exist")
    target = found["target"]
    return Url(scheme, found["name"] or found["v6"], port, target if target.startswith("/") else f"/{target}")
