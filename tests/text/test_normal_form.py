"""Unicode normal forms: right for every text in stream-safe form, and linear for every other."""

import ast
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidRequest
from execution.engine.calls.sanitise import clean_text
from registry.archives.contents import path_check
from tests.text.test_patterns_are_linear import sources
from toolhub_sdk.normal_form import _CUT, MARKS_MAX, Form, _run_pattern, normalised, url_split

FORMS: tuple[Form, ...] = ("NFC", "NFKC")
STARTERS = "ae\u00e9\ud55c\u1ec7\u1100\u1161\u11a8\u09c7\u09be\ufdfa \n"
MARKS = "\u0301\u0323\u0f73\uff9e\u0345\U0001d165"
texts = st.text(st.sampled_from(STARTERS + MARKS * 3), max_size=200)


@given(texts, st.sampled_from(FORMS))
def test_a_text_is_normalised_once_and_for_all(text: str, form: Form) -> None:
    once = normalised(form, text)
    assert normalised(form, once) == once
    assert unicodedata.normalize(form, once) == once


@given(st.text(st.sampled_from(STARTERS + MARKS), max_size=MARKS_MAX // 2), st.sampled_from(FORMS))
def test_texts_with_few_marks_get_the_librarys_form(text: str, form: Form) -> None:
    assert normalised(form, text) == unicodedata.normalize(form, text)
    assert normalised(form, f"{text} " * 1000) == unicodedata.normalize(form, f"{text} " * 1000)


@given(st.text(max_size=200))
def test_a_clean_text_stays_clean(text: str) -> None:
    assert clean_text(clean_text(text)) == clean_text(text)


def test_marks_beyond_thirty_in_a_row_are_dropped() -> None:
    assert normalised("NFC", "x" + "\u0301" * 1000 + "y") == "x" + "\u0301" * 30 + "y"
    assert clean_text("x" + "\u0301" * 20 + "\0" + "\u0301" * 20) == "x" + "\u0301" * 30


def test_every_character_that_begins_with_a_mark_counts_as_one() -> None:
    marks = [
        char
        for char in map(chr, range(sys.maxunicode + 1))
        if unicodedata.combining(unicodedata.normalize("NFKD", char)[0])
    ]
    narrow, wide = _run_pattern(False), _run_pattern(True)
    assert len(marks) > 800
    assert [char for char in marks if not wide.match(char * 31)] == []
    assert [char for char in marks if char <= "\uffff" and not narrow.match(char * 31)] == []


def test_a_text_is_cut_only_where_nothing_combines() -> None:
    # The vowels and finals of Hangul and some vowels of Indic scripts are no marks, and combine all the same.
    starters = [char for char in map(chr, range(0x10000)) if _CUT.match(char)]
    befores = "ae\u00e9\u1100\ud55c\u09c7\u1025\u0dd9"
    for char in starters:
        for before in befores:
            apart = unicodedata.normalize("NFKC", before) + unicodedata.normalize("NFKC", char)
            assert unicodedata.normalize("NFKC", before + char) == apart


def test_an_address_with_many_marks_is_refused_before_its_host_is_normalised() -> None:
    with pytest.raises(ValueError, match="combining marks"):
        url_split("http://a" + "\u0301" * 31)


def test_a_path_with_many_marks_is_refused() -> None:
    assert path_check("e\u0301.txt") == "\u00e9.txt"
    with pytest.raises(InvalidRequest, match="combining marks in a row"):
        path_check("e" + "\u0301" * 31)


# Functions of the library that are not linear in a text, and where they may be called: by what bounds the text.
BOUNDED = {
    "normalize": {"toolhub_sdk.normal_form"},
    "is_normalized": set(),
    "urlsplit": {"toolhub_sdk.normal_form", "toolhub.settings", "toolhub.env", "toolhub_sdk.runtimes.http"},
    "urlparse": set(),
    "unescape": {"security.content.forms"},
    "slugify": set(),
    "literal_eval": set(),
}


def test_nothing_else_calls_what_is_not_linear() -> None:
    found = [
        f"{module}:{node.lineno} {name}"
        for module, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (name := node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
        in BOUNDED
        and module not in BOUNDED[name]
    ]
    assert found == []
