"""The stylesheet has no slips that a browser would swallow."""

import re
from collections import Counter
from pathlib import Path

from django.conf import settings

STYLES = (Path(settings.ROOT) / "static" / "css" / "toolhub.css").read_text(encoding="utf-8")


def test_no_rule_stands_twice_at_the_top() -> None:
    top = re.sub(
        r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", re.sub(r"/\*.*?\*/", "", STYLES, flags=re.DOTALL)
    )
    rules = Counter(re.sub(r"\s+", " ", rule).strip() for rule in re.findall(r"[^{}]+\{[^{}]*\}", top))
    assert [rule for rule, count in rules.items() if count > 1] == []


def test_brackets_close() -> None:
    assert STYLES.count("{") == STYLES.count("}")
