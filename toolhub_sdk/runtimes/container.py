"""The runtime container: an image, by its digest."""

from collections.abc import Mapping
from typing import Any

from toolhub_sdk.runtimes.command import WORD
from toolhub_sdk.runtimes.traits import Runtime


def image_properties(image: str) -> Mapping[str, Any]:
    """The members of `runtime` that name an image; `image` describes the first."""
    return {
        "image": {
            "type": "string",
            "description": image,
            "pattern": "^[a-z0-9]([a-z0-9._/:-]*[a-z0-9])?@sha256:[0-9a-f]{64}$",
            "maxLength": 400,
        },
        "entry": {
            "type": "array",
            "description": "The command in the image, in place of its own. It reads one JSON request on "
            "standard input and writes one JSON result on standard output.",
            "items": WORD,
            "minItems": 1,
            "maxItems": 20,
        },
    }


class Container(Runtime):
    name = "container"
    properties = image_properties(
        "An image by its digest, such as ghcr.io/acme/tool@sha256:…. It runs without network, with a "
        "read-only root."
    )
    required = ("image",)

    def entry_of(self, runtime: Mapping[str, Any]) -> Any:
        return runtime.get("entry", runtime.get("image"))


RUNTIME = Container()
