"""What a tool's contract asks of a sandbox: how strong it has to be, and how much the tool may use."""

from execution.engine.call import Call
from execution.engine.partials import BYTES_MAX
from registry.contracts import isolation_of
from security.sandbox.launch import Limits
from security.sandbox.levels import Level, minimum_of

# What lines and escapes may add to results and parts.
_LINES = 64 * 1024


def minimum_level(call: Call) -> Level:
    """The least level for this call: the contract's word or the caller's, whichever is stricter.

    Who reaches hosts needs a network of its own, which only the strongest level gives.
    """
    return Level.ISOLATED if network_of(call) else minimum_of(*_isolation(call))


def network_of(call: Call) -> tuple[str, ...]:
    """The `host:port` that this call may reach: those of the contract, and none where it is paranoid."""
    if "paranoid" in _isolation(call):
        return ()
    return tuple(call.version.declared.get("network", {}).get("allow", ()))


def _isolation(call: Call) -> tuple[str, str | None]:
    return isolation_of(call.version.declared), call.request.get("isolation_level")


def limits_of(call: Call) -> Limits:
    """The limits for this call. The contract's bounds, else the defaults of Limits."""
    declared = call.version.declared.get("resourceBounds", {})
    usual = Limits()
    return Limits(
        wall_s=call.timeout_ms / 1000,
        start_s=max(0.001, call.start_left()),
        memory_bytes=declared.get("maxMemoryBytes") or usual.memory_bytes,
        cpu_ms=declared.get("maxCpuMs"),
        output_bytes=2 * call.max_output_bytes + BYTES_MAX + _LINES,
        disk_bytes=declared.get("maxDiskBytes") or usual.disk_bytes,
    )
