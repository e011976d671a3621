"""What an admin allows beside public https: hosts and networks, each perhaps at one port only."""

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from core.http.addresses import IPAddress
from core.http.errors import HttpRefused
from core.http.urls import url_read


@dataclass(frozen=True)
class Allowed:
    """One entry: a host name, or a network; any port when `port` is None."""

    host: str | None
    network: IPv4Network | IPv6Network | None
    port: int | None

    def holds(self, host: str, address: IPAddress, port: int) -> bool:
        """Whether this entry lets a connection to `address`, asked for as `host`, pass."""
        if self.port not in (None, port):
            return False
        if self.network is None:
            return self.host == host
        return address.version == self.network.version and address in self.network


@lru_cache(maxsize=1024)
def allowed_read(text: str) -> Allowed:
    """`hooks.example.org`, `10.0.0.0/8` or `[::1]`, each perhaps with `:port`. Raises ValueError."""
    whole = _network(text)
    if whole:
        return Allowed(None, whole, None)
    place, colon, digits = text.rpartition(":")
    if not colon or text.endswith("]"):
        place, digits = text, ""
    if digits and not (digits.isascii() and digits.isdigit() and 1 <= int(digits) <= 65535):
        raise ValueError(f"{text}: the port is no number from 1 to 65535")
    port = int(digits) if digits else None
    network = _network(place.removeprefix("[").removesuffix("]"))
    if network:
        return Allowed(None, network, port)
    try:
        url = url_read(f"https://{place}")
    except HttpRefused as error:
        raise ValueError(f"{text} is neither a host nor a network") from error
    if url.authority != place.lower():
        raise ValueError(f"{text} is neither a host nor a network")
    return Allowed(url.host, None, port)


def _network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text) if "/" in text else ip_network(ip_address(text))
    except ValueError:
        return None
