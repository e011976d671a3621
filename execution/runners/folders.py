"""The folders that a contract's `filesystem` names, as mounts of a launch."""

from collections.abc import Iterator

from django.conf import settings

from core.errors import ToolHubError
from execution.engine.call import Call
from execution.engine.places import place_of
from security.sandbox.folders import SESSION, folders, inside, session_folder, variable
from security.sandbox.launch import Mount


def mounts_of(call: Call) -> list[Mount]:
    """What this call's tool may read and write beside its work folder. Raises ToolHubError."""
    named = call.version.declared.get("filesystem", {})
    write = set(named.get("write", ()))
    return [_mount(call, name, writable=name in write) for name in dict.fromkeys(_names(named))]


def variables_of(mounts: list[Mount]) -> dict[str, str]:
    """The variables that say where they are."""
    return {variable(mount.inside.rpartition("/")[2]): mount.inside for mount in mounts}


def _names(named: dict[str, list[str]]) -> Iterator[str]:
    yield from named.get("read", ())
    yield from named.get("write", ())


def _mount(call: Call, name: str, *, writable: bool) -> Mount:
    if name == SESSION:
        place = place_of(call.persona_id, call.request)
        host = session_folder(place.persona_id, place.session, call.version.release.package.name)
        most = settings.SESSION_FOLDER_BYTES
        return Mount(host, inside(name), writable=writable, most_bytes=most)
    folder = folders().get(name)
    if folder is None:
        raise _refused(f"This hub has no folder named {name!r}.", f"An admin names it: {_EXAMPLE}.")
    if writable and not folder.writable:
        raise _refused(
            f"Tools may read the folder {name!r} and not write in it.", "An admin appends `:rw` to it."
        )
    if not folder.is_there:
        raise _refused(f"The folder {name!r} is not on the worker's machine.", "An admin makes it there.")
    return Mount(folder.path, inside(name), writable=writable)


_EXAMPLE = "TOOLHUB_FOLDERS=name=/path, with `:rw` behind it to let tools write"


def _refused(message: str, remedy: str) -> ToolHubError:
    return ToolHubError(message, code="DEPENDENCY_MISSING", recoverable=True, suggestions=[remedy])
