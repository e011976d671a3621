"""How much of the corpus the checks find, and how often they are wrong. Needs no database."""

import json
import re
from collections import Counter
from typing import get_args

import pytest

from security.content.check import CALL_MAX, FIELD_MAX, FOUND_MAX, kind_violations, violations_of
from security.content.kinds import CHECKED, Field, fields_of
from security.content.violation import Severity, Type
from tests.content.rates import alarmed, harmless, hostile, missed


def test_the_corpus_is_large_sourced_and_without_repetition() -> None:
    bad, good = list(hostile()), list(harmless())
    assert len(bad) >= 300
    assert len(good) >= 1000
    assert all(case.source for case in (*bad, *good))
    assert len({(case.kind, case.text) for case in bad}) == len(bad)
    assert len({(case.kind, case.text) for case in good}) == len(good)
    assert {case.type for case in bad} == set(get_args(Type))
    # Prose and code are in it, too: they have kinds that are never looked at.
    assert min(Counter(case.kind for case in harmless("text", "code")).values()) >= 100


def test_at_least_95_of_100_hostile_arguments_are_found() -> None:
    assert missed().share <= 0.05, [case.text for case in missed().wrong]


@pytest.mark.parametrize("kind", CHECKED)
def test_so_it_is_for_each_kind(kind: str) -> None:
    wrong, every = (Counter(case.kind for case in cases) for cases in (missed().wrong, hostile()))
    assert wrong[kind] / every[kind] <= 0.05


def test_at_most_1_of_100_harmless_arguments_is_reported() -> None:
    assert alarmed().share <= 0.01, [case.text for case in alarmed().wrong]


@pytest.mark.parametrize("name", get_args(Type))
def test_each_type_is_found_by_its_name_with_all_fields(name: str) -> None:
    of_type = [case for case in hostile() if case.type == name]
    named = [any(one.type == name for one in kind_violations(case.kind, case.text)) for case in of_type]
    assert sum(named) / len(named) >= 0.95
    one = next(one for case in of_type for one in kind_violations(case.kind, case.text) if one.type == name)
    assert one.severity in get_args(Severity)
    assert one.description.endswith(".")
    assert one.remediation.endswith(".")


def test_all_four_severities_exist() -> None:
    found = {one.severity for case in hostile() for one in kind_violations(case.kind, case.text)}
    long = violations_of((Field(("sql",), "sql"),), {"sql": "SELECT 1 " + "+ 1 " * 20_000})
    assert found | {one.severity for one in long} == set(get_args(Severity))


def test_prose_and_code_are_left_alone_whatever_stands_in_them() -> None:
    schema = {"properties": {"text": {"type": "string"}, "code": {"type": "string"}, "q": {"type": "string"}}}
    fields = fields_of(schema, {})
    for case in (*hostile(), *harmless("text", "code")):
        assert violations_of(fields, {"text": case.text, "code": case.text, "q": case.text}) == ()


def test_nothing_of_an_argument_is_repeated() -> None:
    for case in hostile():
        for one in kind_violations(case.kind, f"{case.text} zebra-4711", "/x"):
            assert "zebra-4711" not in json.dumps(one.as_dict())


NAMED = {
    "path": ("path", "file_path", "filename", "cwd", "sourceDirectory", "outputFile", "folder"),
    "command": ("command", "cmd", "shell_command"),
    "sql": ("sql", "sql_query", "rawSql"),
    "url": ("url", "callbackUrl", "uri", "webhook"),
    "html": ("html", "body_html", "htmlContent"),
    "": ("text", "q", "query", "message", "path_count", "profile", "urlify", "filed", "commander", "title"),
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMED.items() for name in names])
def test_names_tell_kinds(kind: str, name: str) -> None:
    found = fields_of({"properties": {name: {"type": "string"}}}, {})
    assert [one.kind for one in found] == ([kind] if kind else [])


def test_a_query_is_sql_where_the_description_says_so() -> None:
    field = {"type": "string", "description": "A SQL query."}
    assert [one.kind for one in fields_of({"properties": {"query": field}}, {})] == ["sql"]
    plain = {"properties": {"query": {"type": "string"}}}
    assert [one.kind for one in fields_of(plain, {}, "Runs SQL on the warehouse")] == ["sql"]


def test_contract_goes_before_schema_before_format_before_name() -> None:
    text = {"type": "string"}
    schema = {
        "properties": {
            "url": {**text, "x-toolhub-kind": "code"},
            "link": {**text, "format": "uri"},
            "path": {**text, "format": "date"},
            "file": text,
            "page": {**text, "contentMediaType": "text/html"},
            "path_kind": {**text, "enum": ["a"]},
        }
    }
    found = {one.place: one.kind for one in fields_of(schema, {"/file": "text", "/deep/*/q": "sql"})}
    assert found == {
        ("url",): "code",
        ("link",): "url",
        ("file",): "text",
        ("page",): "html",
        ("deep", "*", "q"): "sql",
    }


def test_fields_are_found_in_lists_alternatives_and_references_that_go_round() -> None:
    schema = {
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "next": {"$ref": "#/$defs/node"}},
            }
        },
        "properties": {
            "files": {"type": "array", "items": {"type": "string"}},
            "url": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "root": {"$ref": "#/$defs/node"},
        },
    }
    fields = fields_of(schema, {})
    arguments = {
        "files": ["a", "../../b"],
        "url": "file:///etc/passwd",
        "root": {"next": {"path": "/etc/shadow"}},
    }
    assert {one.pointer for one in violations_of(fields, arguments)} == {
        "/files/1",
        "/url",
        "/root/next/path",
    }


def test_what_is_too_long_is_said_and_the_work_is_bounded() -> None:
    fields = (Field(("many", "*"), "path"),)
    found = violations_of(fields, {"many": ["a" * (FIELD_MAX + 1)]})
    assert [(one.severity, one.pointer) for one in found] == [("low", "/many/0")]
    many = violations_of(fields, {"many": ["../../x"] * 1000})
    assert len(many) == FOUND_MAX
    spent = violations_of(fields, {"many": ["a" * FIELD_MAX] * (CALL_MAX // FIELD_MAX) + ["b"]})
    assert [one.pointer for one in spent] == [f"/many/{CALL_MAX // FIELD_MAX}"]


HARD = (
    "a",
    "'",
    "../",
    "(",
    "<a ",
    "{{",
    "%2e",
    "$(",
    "/*",
    " or ",
    "' or ",
    "curl x|",
    "-- ",
    "= ",
    "\\",
    "&#",
    "<img ",
)


@pytest.mark.parametrize("kind", CHECKED)
@pytest.mark.parametrize("piece", HARD)
@pytest.mark.timeout(20)
def test_time_grows_with_the_length_only(kind: str, piece: str) -> None:
    """Twenty seconds for 64 KiB of what makes engines that go back hang for hours."""
    list(kind_violations(kind, (piece * FIELD_MAX)[:FIELD_MAX]))


def test_signs_are_no_patterns_that_go_back() -> None:
    """The signs are compiled by RE2; Python's engine has words of one alternative only."""
    from security.content.signs import sql_shape  # noqa: PLC0415

    compiled = [value for value in vars(sql_shape).values() if isinstance(value, re.Pattern)]
    assert [pattern.pattern for pattern in compiled] == [r"\w+"]
