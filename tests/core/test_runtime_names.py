"""Only a runtime's own modules and the two registries name it: sources and templates are walked for others."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from execution.runners import registry as hub
from toolhub_sdk.runtimes import registry as sdk

NAMES = frozenset(sdk.BUNDLED)
_ANY = "|".join(sorted(NAMES))
PACKAGES = (
    "core",
    "audit",
    "security",
    "registry",
    "execution",
    "monitoring",
    "toolhub",
    "toolhub_sdk",
    "catalogue",
)
REGISTRIES = {"toolhub_sdk/runtimes/registry.py", "execution/runners/registry.py"}
# Where a runtime's own modules are.
OWN = re.compile(rf"(?:toolhub_sdk/runtimes|execution/runners)/(?:{_ANY})(?:\.py|/.*)")
OWN_MODULE = re.compile(rf"(?:toolhub_sdk\.runtimes|execution\.runners)\.(?:{_ANY})(?:\..*)?")
# The same words for something else: by file, what they mean there.
OTHERS = {
    ("core/http/urls.py", "http"): "a scheme of addresses",
    ("execution/entry/mcp/api.py", "http"): "a scheme of addresses",
    ("registry/installations/sources/address_kinds.py", "http"): "a scheme of addresses",
    ("registry/installations/sources/git.py", "http"): "a scheme of addresses",
    ("registry/node_environments.py", "http"): "a scheme of addresses",
    ("registry/snippets.py", "http"): "a transport of MCP",
    ("security/content/forms.py", "command"): "a kind of argument",
    ("security/content/kinds.py", "command"): "a kind of argument",
    ("security/content/signs/url.py", "http"): "a scheme of addresses",
    ("security/openapi.py", "http"): "a kind of authentication in OpenAPI",
    ("security/sandbox/gate_wire.py", "http"): "a scheme of addresses",
    ("security/sandbox/run.py", "python"): "whether an order's program is a Python",
    ("security/sandbox/supervisor/order.py", "python"): "whether an order's program is a Python",
    ("toolhub/env.py", "http"): "a scheme of addresses",
    ("toolhub_sdk/cli/main.py", "command"): "the SDK's own commands",
    ("toolhub_sdk/lint/advice.py", "command"): "the name of an argument",
    ("toolhub_sdk/runtimes/traits.py", "builtin"): "a type of tools, which callers read",
    ("toolhub_sdk/terms.py", "command"): "a kind of argument",
}
# "the runtime python", "a python runner", in a text or a comment.
_PROSE = re.compile(
    rf"(?i)\b(?:runtimes?|runners?)[\s`'\"]{{1,3}}(?:{_ANY})\b|\b(?:{_ANY})[\s`'\"]{{1,3}}(?:runtimes?|runners?)\b"
)
# `{% if release.runner == "x" %}` and `{% if kind == "python" %}`.
_TEMPLATE = re.compile(
    rf"\brunn(?:er|time)\w*\s*(?:==|!=|in|not in)\s*[\"']|[\"'](?:{_ANY})[\"']|\bruntime\.type\b"
)
_TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)


def names_in(source: str, path: str = "") -> Iterator[str]:
    """Each place of a Python source that names a runtime, or decides by a runtime's name."""
    for node in ast.walk(ast.parse(source)):
        for what in _named(node, path):
            yield f"{path}:{getattr(node, 'lineno', 0)} {what}"
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and (found := _PROSE.search(token.string)):
            yield f"{path}:{token.start[0]} speaks of {found[0]!r}"


def _named(node: ast.AST, path: str) -> Iterator[str]:
    if _is_text(node):
        text = ast.literal_eval(node)
        if text in NAMES and (path, text) not in OTHERS:
            yield f"has the text {text!r}"
        elif found := _PROSE.search(text):
            yield f"speaks of {found[0]!r}"
    elif isinstance(node, ast.Compare) and any(map(_is_runtime, (node.left, *node.comparators))):
        if any(map(_is_text, ast.walk(node))):
            yield "compares a runtime's name"
    elif isinstance(node, ast.keyword) and "runner" in (node.arg or "").split("__") and _is_text(node.value):
        yield f"gives {node.arg} a fixed name"
    yield from (f"imports {module}" for module in _imported(node) if OWN_MODULE.fullmatch(module))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_runtime(node: ast.AST) -> bool:
    """`runner`, `version.runner`, `runtime["type"]`, `manifest["runtime"]["type"]`."""
    if isinstance(node, ast.Name | ast.Attribute):
        return (node.id if isinstance(node, ast.Name) else node.attr) in {"runner", "runtime"}
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and node.slice.value == "type"
    ):
        return "runtime" in ast.unparse(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return "runtime" in ast.unparse(node.func.value) and "'type'" in ast.unparse(node)
    return False


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if isinstance(node, ast.ImportFrom):
        return [str(node.module), *(f"{node.module}.{each.name}" for each in node.names)]
    return []


def tags_in(template: str, path: str = "") -> Iterator[str]:
    """Each tag of a template that names a runtime."""
    for tag in _TAG.findall(template):
        if _TEMPLATE.search(tag):
            yield f"{path} has {tag}"


def _sources() -> Iterator[tuple[str, str]]:
    root = Path(settings.ROOT)
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            if "/migrations/" not in path and path not in REGISTRIES and not OWN.fullmatch(path):
                yield path, file.read_text(encoding="utf-8")


def test_no_other_source_names_a_runtime() -> None:
    assert [each for path, source in _sources() for each in names_in(source, path)] == []


def test_no_template_names_a_runtime() -> None:
    root = Path(settings.ROOT)
    texts = [*(root / "templates").rglob("*.html"), *(root / "static" / "js").rglob("*.js")]
    assert len(texts) > 100
    found = []
    for file in texts:
        text, path = file.read_text(encoding="utf-8"), file.relative_to(root).as_posix()
        # A script has no tags: all of it is looked at.
        found += list(tags_in(text if file.suffix == ".html" else f"{{% {text} %}}", path))
    assert found == []


def test_the_words_that_mean_something_else_are_still_there() -> None:
    sources = dict(_sources())
    for path, name in OTHERS:
        constants = [node for node in ast.walk(ast.parse(sources[path])) if isinstance(node, ast.Constant)]
        assert any(node.value == name for node in constants), f"{path} has no {name!r} any more: take it off"


def test_both_registries_have_the_same_names() -> None:
    assert sorted(sdk.BUNDLED) == sorted(hub.BUNDLED)


@pytest.mark.parametrize(
    "source",
    [
        'if version.runner == "wasm": pass',
        'x = version.runner in {"later", "never"}',
        'x = "later" != runner',
        'x = runtime["type"] == "later"',
        'x = manifest["runtime"]["type"] not in ("later",)',
        'x = runtime.get("type") == "later"',
        'QUEUES = {"vm": "sandbox"}',
        'rows.filter(runner="later")',
        'rows.exclude(active__runner="later")',
        "from execution.runners import python",
        "from execution.runners.command import argv_of",
        "import toolhub_sdk.runtimes.http.exchange",
        '"""Only for the runtime `wasm`."""',
        "x = 1  # as the python runner has it",
        'raise Error(f"A tool of the runtime container has none.")',
    ],
)
def test_whatever_names_a_runtime_is_found(source: str) -> None:
    assert list(names_in(source)) != []


@pytest.mark.parametrize(
    "template",
    [
        '{% if release.runner != "builtin" %}',
        "{% if version.runner == 'later' %}",
        "{% if manifest.runtime.type %}",
        '{{ kind|default:"python" }}',
    ],
)
def test_whatever_names_a_runtime_in_a_template_is_found(template: str) -> None:
    assert list(tags_in(template)) != []
