"""A registry of Node packages on this machine, with packages of a few lines."""

import base64
import gzip
import hashlib
import http.server
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

# name → version, what its package.json has beside, and its files.
PACKAGES: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "twice": (
        "1.2.0",
        {"dependencies": {"@here/times": "^2.0.0"}},
        {"index.js": 'const times = require("@here/times");\nmodule.exports = (word) => times(word, 2);\n'},
    ),
    "@here/times": (
        "2.0.1",
        {"scripts": {"postinstall": "node mark.js"}},
        {
            "index.js": "module.exports = (word, count) => word.repeat(count);\n",
            "mark.js": 'require("fs").writeFileSync(`${__dirname}/mark`, "was here");\n',
        },
    ),
}


def tarball(name: str) -> bytes:
    """The package as npm packs one."""
    version, more, files = PACKAGES[name]
    texts = {
        "package.json": json.dumps({"name": name, "version": version, "main": "index.js", **more}),
        **files,
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, text in texts.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return gzip.compress(packed.getvalue(), mtime=0)


def integrity(name: str) -> str:
    """Its hash, as a lock says it."""
    return "sha512-" + base64.b64encode(hashlib.sha512(tarball(name)).digest()).decode()


def files(**changes: Any) -> dict[str, bytes]:
    """package.json and package-lock.json of a package that needs `twice`; a change replaces a member of its entry."""
    asked = {"dependencies": {"twice": "^1.0.0"}}
    entries: dict[str, Any] = {"": {"name": "said-twice", "version": "1.0.0", **asked}}
    for name, (version, more, _) in PACKAGES.items():
        kept = {key: value for key, value in more.items() if key != "scripts"}
        script = {"hasInstallScript": True} if "scripts" in more else {}
        entries[f"node_modules/{name}"] = {"version": version, "integrity": integrity(name), **kept, **script}
    entries["node_modules/twice"] |= changes
    lock = {
        "name": "said-twice",
        "version": "1.0.0",
        "lockfileVersion": 3,
        "requires": True,
        "packages": entries,
    }
    package = {"name": "said-twice", "version": "1.0.0", "private": True, **asked}
    return {"package.json": json.dumps(package).encode(), "package-lock.json": json.dumps(lock).encode()}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        asked = unquote(self.path).strip("/")
        name, _, file = asked.partition("/-/")
        found = name in PACKAGES
        body = (tarball(name) if file else self._about(name)) if found else b"{}"
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _about(self, name: str) -> bytes:
        version, more, _ = PACKAGES[name]
        address = f"http://{self.headers['Host']}/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
        dist = {"tarball": address, "integrity": integrity(name)}
        told = {version: {"name": name, "version": version, "dist": dist, **more}}
        return json.dumps({"name": name, "dist-tags": {"latest": version}, "versions": told}).encode()

    def log_message(self, *_: Any) -> None:
        return


@contextmanager
def registry_running() -> Iterator[int]:
    """Its port."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()
