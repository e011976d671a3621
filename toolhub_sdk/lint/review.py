"""Everything that a reviewer is shown about a package before it is published."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from toolhub_sdk.checks.node import PACKAGE, UnfitLock, node_lock_read, node_scripts
from toolhub_sdk.lint.advice import advice_on
from toolhub_sdk.lint.contradictions import contradictions_in
from toolhub_sdk.lint.instructions import instruction_findings
from toolhub_sdk.lint.invisible import invisible_findings
from toolhub_sdk.lint.names import near_name, requirement_names, well_known
from toolhub_sdk.lint.texts import text_of_file, texts_of
from toolhub_sdk.lint.warning import LintWarning
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.problem import pointer
from toolhub_sdk.providers.fit import fits_of
from toolhub_sdk.runtimes.registry import runtime_of
from toolhub_sdk.runtimes.traits import Packages

ALARMS = frozenset(
    {"HIDDEN_INSTRUCTION", "INVISIBLE_CHARACTER", "LOOKALIKE_LETTER", "NEAR_NAME", "TEXT_OUT_OF_SIGHT"}
)
"""The codes that may mean an attack; the others are advice to the author."""
WARNINGS_MAX = 500


def warnings_of(
    manifest: Mapping[str, Any],
    files: Mapping[str, bytes],
    *,
    packages: Collection[str] = (),
    tools: Collection[str] = (),
) -> list[LintWarning]:
    """The warnings about a manifest without problems and its files (path → bytes), alarms first, at most 500.

    `packages` and `tools` are the names that are taken already, those of this package's own other releases
    left out.
    """
    found = [
        *_names(manifest, packages, tools),
        *_texts(manifest),
        *_files(manifest, files),
        *(each for i, tool in enumerate(manifest["tools"]) for each in _tool(tool, f"/tools/{i}")),
    ]
    return found[:WARNINGS_MAX]


def _tool(definition: Mapping[str, Any], at: str) -> Iterator[LintWarning]:
    yield from advice_on(definition, at)
    yield from contradictions_in(definition, at)
    for fit in fits_of(definition):
        # That strict has no words for a schema is nothing that an author has to mend.
        if fit.unfit and not fit.provider.endswith("-strict"):
            yield LintWarning("PROVIDER_UNFIT", at, f"{fit.provider} cannot take the tool: {fit.unfit}")


def _names(
    manifest: Mapping[str, Any], packages: Collection[str], tools: Collection[str]
) -> Iterator[LintWarning]:
    near = near_name(manifest["name"], {*packages, *well_known("packages")})
    if near:
        yield LintWarning("NEAR_NAME", "/name", f"The name is near {near}, another package's.")
    own = [tool["name"] for tool in manifest["tools"]]
    for index, name in enumerate(own):
        near = near_name(name, set(tools) - set(own))
        twin = next((other for other in own[:index] if other.lower() == name.lower()), None)
        if near or twin:
            words = f"The name is near {near or twin}, another tool's."
            yield LintWarning("NEAR_NAME", f"/tools/{index}/name", words)


def _texts(manifest: Mapping[str, Any]) -> Iterator[LintWarning]:
    for path, text in texts_of(manifest):
        for code, words in invisible_findings(text):
            yield LintWarning(code, pointer(path), words)
        for words in instruction_findings(text):
            yield LintWarning("HIDDEN_INSTRUCTION", pointer(path), words)


def _files(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[LintWarning]:
    contracts = [tool.get("_meta", {}).get(CONTRACT, {}) for tool in manifest["tools"]]
    documents = {contract.get("documentation") for contract in contracts}
    for path, content in sorted(files.items()):
        text = text_of_file(content)
        if text is None or path == "toolhub.json":
            continue
        for code, words in invisible_findings(text):
            if code != "TEXT_OUT_OF_SIGHT":
                yield LintWarning(code, "", f"{path}: {words}")
        for words in instruction_findings(text) if path in documents else ():
            yield LintWarning("HIDDEN_INSTRUCTION", "", f"{path}: {words}")
    requires = manifest["runtime"].get("requires")
    if requires and runtime_of(manifest["runtime"]["type"]).packages is Packages.NODE:
        yield from _node(requires, files)
        return
    for line, name in requirement_names(text_of_file(files.get(requires, b"")) or "") if requires else ():
        near = near_name(name, well_known("requirements"))
        if near:
            yield LintWarning(
                "NEAR_NAME", "", f"{requires}, line {line}: {name} is near the well-known {near}."
            )


def _node(requires: str, files: Mapping[str, bytes]) -> Iterator[LintWarning]:
    beside = f"{requires.rpartition('/')[0]}/{PACKAGE}".lstrip("/")
    try:
        lock = node_lock_read(files.get(requires, b""), files.get(beside))
    except UnfitLock:
        return  # it is told as a fault
    for name in node_scripts(lock):
        words = f"{requires}: {name} wants to run a program when it is installed. It is not run."
        yield LintWarning("INSTALL_SCRIPT", "/runtime/requires", words)
