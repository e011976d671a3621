"""A lock of Node packages read strictly: packages of the registry by name and version, each with its hash.

npm takes more than that: addresses, repositories, folders, links. Those cannot be held to a hash in the lock,
or lead out of the package.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

LOCK, PACKAGE = "package-lock.json", "package.json"
PACKAGES_MAX = 2_000
BYTES_MAX = 4 * 1024 * 1024
_NAME = r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9~_-][A-Za-z0-9._~-]*"
_PLACE = re.compile(rf"node_modules/{_NAME}(?:/node_modules/{_NAME})*")
_VERSION = re.compile(r"\d+\.\d+\.\d+[0-9A-Za-z.+-]{0,100}")
_HASH = re.compile(r"sha(?:256|384|512)-[A-Za-z0-9+/]{43,88}={0,2}")
_ALIAS = re.compile(rf"npm:{_NAME}(?:@[^:/]*)?")
_ASKED = ("dependencies", "optionalDependencies", "peerDependencies")
# What npm needs to know of a package. Where it comes from is the hub's to say, and npm reads that, and more,
# from members of other names, too.
_KEPT = frozenset(
    {*_ASKED, "peerDependenciesMeta", "name", "version", "integrity", "optional", "devOptional", "peer"}
    | {"hasInstallScript", "engines", "os", "cpu", "libc"}
)


class UnfitLock(ValueError):
    """A lock that a hub does not take. Says why."""


def node_lock_read(lock: bytes, package: bytes | None) -> dict[str, Any]:
    """The lock as a hub keeps it: `{lockfileVersion, packages}` of npm, with what is installed and no more.

    `package` is the package.json beside it. What is for development alone is left out, and so are addresses.
    Raises UnfitLock.
    """
    read, asked = _object(lock, LOCK), _object(package, PACKAGE)
    packages = read.get("packages")
    if read.get("lockfileVersion") not in (2, 3) or not isinstance(packages, Mapping) or "" not in packages:
        raise UnfitLock(f"{LOCK} is of no version that is taken; write it with npm 7 or newer")
    if asked.get("overrides"):
        raise UnfitLock(f"{PACKAGE} has overrides, which are not taken")
    if len(packages) > PACKAGES_MAX:
        raise UnfitLock(f"{LOCK} names more than {PACKAGES_MAX} packages")
    made = {place: _entry(place, entry) for place, entry in packages.items() if not _is_dev(entry)}
    for name in ("dependencies", "optionalDependencies"):
        if asked.get(name, {}) != made[""].get(name, {}):
            raise UnfitLock(f"{PACKAGE} and {LOCK} name other {name}; run npm install again")
    return {"lockfileVersion": 3, "packages": dict(sorted(made.items()))}


def node_lock_named(path: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The lock at a path of the package, as `node_lock_read`, with the package.json beside it."""
    folder, _, name = path.rpartition("/")
    if name != LOCK:
        raise UnfitLock(f"a command's packages are those of a {LOCK}")
    return node_lock_read(files[path], files.get(f"{folder}/{PACKAGE}".lstrip("/")))


def node_packages(lock: Mapping[str, Any]) -> list[str]:
    """`name@version` of each package in a lock that was read."""
    return [f"{_name(place, entry)}@{entry['version']}" for place, entry in _installed(lock)]


def node_scripts(lock: Mapping[str, Any]) -> list[str]:
    """The packages that want a program of theirs to run when they are installed, which no hub lets them."""
    return [_name(place, entry) for place, entry in _installed(lock) if entry.get("hasInstallScript")]


def _installed(lock: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((place, entry) for place, entry in lock["packages"].items() if place)


def _name(place: str, entry: Mapping[str, Any]) -> str:
    return str(entry.get("name") or place.rpartition("node_modules/")[2])


def _object(content: bytes | None, name: str) -> dict[str, Any]:
    if content is None:
        raise UnfitLock(f"there is no {name} beside it")
    if len(content) > BYTES_MAX:
        raise UnfitLock(f"{name} has more than {BYTES_MAX} bytes")
    try:
        read = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnfitLock(f"{name} is no JSON") from error
    if not isinstance(read, dict):
        raise UnfitLock(f"{name} is no JSON object")
    return read


def _is_dev(entry: Any) -> bool:
    return isinstance(entry, Mapping) and entry.get("dev") is True


def _entry(place: str, entry: Any) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise UnfitLock(f"{place or 'the package itself'} is no object")
    for name in _ASKED:
        _ranges_check(entry.get(name, {}), place)
    kept = {name: value for name, value in entry.items() if name in _KEPT}
    if not place:
        return {name: kept[name] for name in ("name", "version", *_ASKED) if name in kept}
    if not _PLACE.fullmatch(place) or entry.get("link") or not re.fullmatch(_NAME, _name(place, entry)):
        raise UnfitLock(f"{place} is a folder or a link; only packages of the registry are taken")
    if not str(entry.get("resolved", "https:")).startswith(("https:", "http:")):
        raise UnfitLock(f"{place} comes from a repository or a file; only packages of the registry are taken")
    if not _VERSION.fullmatch(str(entry.get("version", ""))):
        raise UnfitLock(f"{place} has no exact version")
    # Without a hash npm gets what is said to come within another package and does not, and what a package's
    # own lock asks for.
    if entry.get("inBundle") or entry.get("hasShrinkwrap"):
        raise UnfitLock(f"{place} comes within another package, or brings a lock of its own")
    hashes = str(entry.get("integrity", "")).split()
    if not (hashes and all(map(_HASH.fullmatch, hashes))):
        raise UnfitLock(f"{place} has no hash by SHA-256 or a longer one")
    return kept


def _ranges_check(asked: Any, place: str) -> None:
    if not isinstance(asked, Mapping):
        raise UnfitLock(f"{place or 'the package itself'} names its dependencies in no known form")
    for name, wanted in asked.items():
        text = str(wanted)
        if not re.fullmatch(_NAME, name) or not (_ALIAS.fullmatch(text) or not re.search("[:/]", text)):
            raise UnfitLock(f"{name} is wanted by an address, a path or a repository, not by its version")
