"""What a tool says that it wants its capabilities for, as far as it says so."""

import re
from collections.abc import Mapping
from typing import Any

_WORDS = re.compile(r"[A-Za-z]{3,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
SHOWN = 200


def reason_of(capability: str, description: str, contract: Mapping[str, Any]) -> str:
    """Hosts or files that its contract declares, else the sentence of its description that speaks of it.

    Empty when neither says anything: then a careful person asks its author.
    """
    declared = _declared(capability, contract)
    if declared:
        return declared
    wanted = _stems(capability)
    for sentence in _SENTENCE.split(description):
        if wanted & _stems(sentence):
            return sentence.strip()[:SHOWN]
    return ""


def _declared(capability: str, contract: Mapping[str, Any]) -> str:
    kind = re.split(r"[:.]", capability)[0]
    if kind == "network":
        hosts = contract.get("network", {}).get("allow", [])
        return f"to reach {', '.join(hosts)}"[:SHOWN] if hosts else ""
    if kind in {"file", "filesystem"}:
        files = contract.get("filesystem", {})
        act = next((one for one in ("read", "write") if one in capability), "")
        names = files.get(act, []) if act else [*files.get("read", []), *files.get("write", [])]
        return f"to {act or 'use'} {', '.join(names)}"[:SHOWN] if names else ""
    return ""


def _stems(text: str) -> set[str]:
    return {word.lower().rstrip("s") for word in _WORDS.findall(text)}
