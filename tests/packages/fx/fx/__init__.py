"""Tools that use every field of the contract, for tests. A group of tools is a module, named here.

`python -m toolhub_sdk manifest tests/packages/fx` writes toolhub.json anew.
"""

from fx.changing import (
    fx_abc,
    fx_api_fail,
    fx_casc,
    fx_clear,
    fx_decrement,
    fx_hist,
    fx_increment,
    fx_set,
)
from fx.failing import fx_fail
from fx.remembering import fx_mem_read, fx_mem_write
from fx.requiring import fx_ctx, fx_dep, fx_pre
from fx.whole import fx_asks, fx_every
from toolhub_sdk import Package

PACKAGE = Package(
    name="fx",
    version="1.0.0",
    title="Fixture",
    description="Tools that use every field of the contract. For tests only.",
    license="MIT",
    author="ToolHub",
    keywords=("fixture",),
    homepage="https://example.org/fx",
    icon="icon.svg",
    requires="requirements.txt",
    tools={"echo": "^1"},
    config={
        "type": "object",
        "properties": {"unit": {"type": "string", "description": "A unit.", "default": "C"}},
    },
)

__all__ = [
    "PACKAGE",
    "fx_abc",
    "fx_api_fail",
    "fx_asks",
    "fx_casc",
    "fx_clear",
    "fx_ctx",
    "fx_decrement",
    "fx_dep",
    "fx_every",
    "fx_fail",
    "fx_hist",
    "fx_increment",
    "fx_mem_read",
    "fx_mem_write",
    "fx_pre",
    "fx_set",
]
