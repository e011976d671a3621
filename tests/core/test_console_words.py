"""How pages say texts and measures."""

import pytest

from core.templatetags.console import coded, measure


def test_backticks_set_code_and_nothing_else_passes_as_markup() -> None:
    assert coded("Send `a<b` now") == "Send <code>a&lt;b</code> now"
    assert coded("<b>`") == "&lt;b&gt;`"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("cpu_ms", 0.647, ("CPU time", "0.65 ms")),
        ("durationMs", 2500, ("duration", "2.5 s")),
        ("max_rss_bytes", 2048, ("max rss", "2 KiB")),
        ("attempt", 1, ("attempt", 1)),
    ],
)
def test_a_measure_has_its_name_in_words_and_its_unit(
    name: str, value: float, said: tuple[str, object]
) -> None:
    assert measure(name, value) == said
