"""What the registry asks of the hub's part of a runtime. The part itself stands above, and registers here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Protocol

from core.errors import ToolHubError
from toolhub_sdk.runtimes.registry import runtimes


@dataclass(frozen=True)
class Made:
    """Files that `prepare` leaves in a folder of TOOLHUB_DATA.

    `name_of` names the file that is made of one of a package's, by the SHA-256 of that one, in hex.
    """

    folder: str
    name_of: Callable[[str], str]


class HubRuntime(Protocol):
    """The part of a runtime that packages, their pages and their installations ask."""

    name: str
    is_sandboxed: bool
    made: Made | None

    def prepare(
        self, runtime: Mapping[str, Any], files: Mapping[str, bytes], cancelled: Event
    ) -> tuple[str, ...]:
        """Makes ready on this machine what calls need, and returns a sentence for each thing made.

        `runtime` is the manifest's, `files` are the package's (path → bytes). Raises ToolHubError.
        """
        ...


_HUB: dict[str, HubRuntime] = {}


def hub_runtime_register(runtime: HubRuntime) -> None:
    """Makes a runtime known; called when Django starts."""
    _HUB[runtime.name] = runtime


def hub_runtimes() -> Mapping[str, HubRuntime]:
    """Those that this hub has, by name."""
    return _HUB


def hub_runtime_of(name: str) -> HubRuntime:
    """The runtime of this name. Raises ToolHubError RUNTIME_UNKNOWN."""
    if name not in _HUB:
        raise runtime_unknown(name)
    return _HUB[name]


def runtime_unknown(name: str) -> ToolHubError:
    """The refusal of a tool whose runtime this process does not have."""
    return ToolHubError(
        f"This hub has no runtime {name[:16]!r}. It has {', '.join(runtimes())}.",
        code="RUNTIME_UNKNOWN",
        data={"runtime": name[:16], "known": list(runtimes())},
    )
