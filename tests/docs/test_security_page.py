"""The page about who may do what names the decision's checks and codes as they are."""

import re
from pathlib import Path

from core.codes import CODES
from security.decisions import RULES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|", PAGE, flags=re.MULTILINE)


def test_the_table_has_the_checks_in_their_order() -> None:
    named = {"version_state": "version"}
    rules = [rule.__name__.removeprefix("_") for rule in RULES]
    assert [name for name, _ in ROWS] == [named.get(name, name) for name in rules]


def test_every_code_of_the_table_is_one_of_the_hub() -> None:
    codes = {code for _, cell in ROWS for code in re.findall(r"[A-Z]+_?[A-Z_]+", cell)}
    assert codes <= set(CODES) | {"APPROVAL_REQUIRED"}
    assert {"PAUSED", "RATE_LIMIT", "QUOTA_EXCEEDED"} <= codes
