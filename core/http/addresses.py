"""Which network addresses are somebody's inside, by the registries of special-purpose addresses.

IANA's IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and later), and clouds' metadata services.
A list of our own: `ipaddress.is_global` of Python 3.11 takes some of these for public.
"""

from ipaddress import IPv4Address, IPv6Address, ip_network

IPAddress = IPv4Address | IPv6Address

_INSIDE = [
    (ip_network(network), word)
    for network, word in (
        ("0.0.0.0/8", "this host"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "a carrier's inside"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a cloud's metadata service"),
        ("169.254.0.0/16", "link-local, where clouds have their metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "this host"),
        ("::1/128", "loopback"),
        ("::ffff:0:0/96", "an IPv4 address in IPv6 form"),
        ("64:ff9b::/96", "an IPv4 address behind NAT64"),
        ("64:ff9b:1::/48", "an IPv4 address behind NAT64"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("ff00::/8", "multicast"),
        ("2001::/23", "reserved, or a tunnel"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "an IPv4 address behind 6to4"),
        ("3fff::/20", "documentation"),
    )
]
_PUBLIC_V6 = ip_network("2000::/3")


def inside(address: IPAddress) -> str | None:
    """What kind of inside the address belongs to, in a word or two; None for a public one."""
    for network, word in _INSIDE:
        if address.version == network.version and address in network:
            return word
    if isinstance(address, IPv6Address) and address not in _PUBLIC_V6:
        return "not public"
    return None
