"""The WSGI environment of a request (PEP 3333)."""

import functools
import sys
from typing import IO, Any

from toolhub.entrance.granian import Headers, Scope

_BASE = {
    "SCRIPT_NAME": "",
    "SERVER_SOFTWARE": "ToolHub",
    "wsgi.errors": sys.stderr,
    "wsgi.multiprocess": True,
    "wsgi.multithread": True,
    "wsgi.run_once": False,
    "wsgi.version": (1, 0),
}
# The length of a body is known once it was read, and it comes in one piece.
_REPLACED = frozenset({"content-length", "transfer-encoding"})


def environ_make(scope: Scope, headers: Headers, body: IO[bytes], length: int) -> dict[str, Any]:
    """The environment of a request with its whole body. `headers` have lower-case names."""
    host, _, port = scope.server.rpartition(":")
    path = scope.path
    environ: dict[str, Any] = {
        **_BASE,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "SERVER_NAME": host.strip("[]"),
        "SERVER_PORT": port,
        "REMOTE_ADDR": address_of(scope),
        "REQUEST_METHOD": scope.method,
        "PATH_INFO": path if path.isascii() else path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "CONTENT_LENGTH": str(length),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": body,
    }
    for name, value in headers:
        key = _key(name)
        if key is None:
            continue
        before = environ.get(key)
        environ[key] = value if before is None else f"{before}{'; ' if name == 'cookie' else ','}{value}"
    return environ


def address_of(scope: Scope) -> str:
    """The address that connects, without its port."""
    return scope.client.rpartition(":")[0].strip("[]")


@functools.lru_cache(maxsize=512)
def _key(name: str) -> str | None:
    """The name of a header in the environment; None for one that is not passed on.

    CGI writes `-` as `_`, so `X_Forwarded_For` would pass as `X-Forwarded-For`: such names are dropped.
    """
    if "_" in name or name in _REPLACED:
        return None
    key = name.upper().replace("-", "_")
    return key if key == "CONTENT_TYPE" else f"HTTP_{key}"
