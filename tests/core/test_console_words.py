"""How pages say texts and measures."""

import pytest
from django.test import RequestFactory

from core.templatetags.console import coded, measure, size
from core.templatetags.tables import query


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
        ("files", [{"name": "a's", "size": 6}], ("files", '[{"name":"a\'s","size":6}]')),
        ("files", ["x" * 300], ("files", '["' + "x" * 197 + "…")),
    ],
)
def test_a_measure_has_its_name_in_words_and_its_unit(
    name: str, value: object, said: tuple[str, object]
) -> None:
    assert measure(name, value) == said


@pytest.mark.parametrize(
    ("given", "changes", "said"),
    [
        ("", {}, "?"),
        ("kind=a", {"kind": "b"}, "?kind=b"),
        ("q=x&kind=a&after=9&before=1", {}, "?q=x&kind=a"),
        ("after=9", {"before": 5}, "?before=5"),
        ("q=x&kind=a", {"kind": None, "actor": ""}, "?q=x"),
        ("q=&kind=a", {}, "?kind=a"),
        ("q=x&q=y", {"n": 0}, "?q=x&q=y&n=0"),
        ("q=x&q=", {}, "?"),
        ("q=a%26b+c%C3%A9", {"name": "\u00e9/="}, "?q=a%26b+c%C3%A9&name=%C3%A9%2F%3D"),
    ],
)
def test_an_address_of_other_filters_keeps_the_rest(
    given: str, changes: dict[str, object], said: str
) -> None:
    assert query({"request": RequestFactory().get(f"/?{given}")}, **changes) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1092, "1.07 KiB"),
        (1_048_570, "1024 KiB"),
        (1_572_864, "1.5 MiB"),
        (5 << 40, "5120 GiB"),
    ],
)
def test_a_size_has_as_many_digits_as_tell_something(value: int, said: str) -> None:
    assert size(value) == said
