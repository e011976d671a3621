"""Tools that use every field of the contract, for tests. A group of tools is a module, named here.

`python -m toolhub_sdk manifest tests/packages/fx` writes toolhub.json anew.
"""

from fx.failing import fx_fail
from fx.remembering import fx_mem_read, fx_mem_write
from fx.requiring import fx_ctx, fx_dep, fx_pre
from toolhub_sdk import Package

PACKAGE = Package(
    name="fx",
    version="1.0.0",
    title="Fixture",
    description="Tools that use every field of the contract. For tests only.",
    license="MIT",
    author="ToolHub",
)

__all__ = ["PACKAGE", "fx_ctx", "fx_dep", "fx_fail", "fx_mem_read", "fx_mem_write", "fx_pre"]
