"""The published schema of `toolhub.json` as a page that people can read."""

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.checks.form import published_schema
from toolhub_sdk.runtimes.registry import runtimes

_INTRO = """# toolhub.json

A package is a `toolhub.json` and the files that it names. The file is UTF-8, strict JSON (no member twice),
at most 1 MiB. Its JSON Schema is `toolhub_sdk/toolhub.schema.json`; a hub serves it at
`/schemas/toolhub.schema.json`, so that an editor can complete what you write.

`python -m toolhub_sdk check` makes the checks that a hub makes. Beyond the schema these are:

- **Names:** a package's does not begin with `toolhub`; tools' differ, and are none of `schema`, `search`,
  `stats`; ranges of versions are like `^1.2`, `>=1.0 <2.0`, `1.4.0`, `*`.
- **Files:** all that are named are there; paths stay inside the package; at most 5,000 files, 32 MiB one and
  64 MiB all; requirements are names with versions.
- **Schemas:** they refer only to themselves, have at most 128 KiB and 40 levels, patterns of at most 1,000
  characters without look-around and back-references, and no branches over branches. Examples fit the schemas
  of their tool.
- **Settings:** the schema of `config` is an object's; what is secret is a text without a default, at its
  top. `configCheck` sends at least one secret, to a host in the `network.allow` of a tool.
- **Contradictions:** a pure tool has no effects, writes in no folder, needs no right to write or delete, and
  sends no PUT, PATCH or DELETE; a paranoid one reaches no host. What only makes a promise doubtful is a
  warning.
- **Expressions** in CEL compile, have at most 2,000 characters, do not nest `map`, `filter`, `all` and
  `exists`, and name only what is there: `arguments`, `context`, `context_data`, `persona` and `now`; besides,
  in `retryIf` `error` and `attempt`, in a state `value`, in an effect `result`, `error` and `current`.
- **Effects:** a value where the effect has one, by `value` (`payload`) or `expression`, not by both.
"""
_PARTS = {
    "tool": "A tool",
    "contract": "The contract",
    "precondition": "A precondition",
    "effect": "An effect",
    "retryPolicy": "A retry policy",
    "backoff": "Backoff",
    "configCheck": "A test of secrets",
}
_CONTRACT = '\nIt stands in the tool\'s `_meta` under `"io.toolhub/contract"`.\n'


def manifest_page() -> str:
    """The page in Markdown: a table for the manifest and for each of its parts."""
    schema = published_schema()
    notes = "".join(f"- {each.notes}\n" for each in runtimes().values() if each.notes)
    sections = [_INTRO + notes, _section("The manifest", schema)]
    for name, title in _parts().items():
        sections.append(_section(title, schema["$defs"][name], _CONTRACT if name == "contract" else ""))
    return "\n".join(sections)


@functools.cache
def _parts() -> dict[str, str]:
    """The definitions that have a table of their own, with its heading."""
    own = {name: part["title"] for each in runtimes().values() for name, part in each.definitions.items()}
    return {**_PARTS, **own}


def _section(title: str, part: Mapping[str, Any], more: str = "") -> str:
    heads = "| member | type | must | what it is |\n|---|---|---|---|\n"
    lines = [f"## {title}\n\n{part['description']}\n{more}\n{heads}", *_rows(part, "")]
    return "".join(lines)


def _rows(part: Mapping[str, Any], above: str) -> Iterator[str]:
    yield from _member_rows(part, above, "")
    for branch in part.get("allOf", ()):
        ((key, kind),) = branch["if"]["properties"].items()
        yield from _member_rows(branch["then"], above, f"{key} `{kind['const']}`: ")


def _member_rows(part: Mapping[str, Any], above: str, where: str) -> Iterator[str]:
    for name, member in part.get("properties", {}).items():
        if member is True:
            continue
        must = "yes" if name in part.get("required", ()) else ""
        words = str(_resolved(member).get("description", "")).replace("|", "\\|")
        yield f"| `{above}{name}` | {_type(member)} | {must} | {where}{words} |\n"
        yield from _nested(member, f"{above}{name}")


def _nested(member: Mapping[str, Any], above: str) -> Iterator[str]:
    items = member.get("items", {})
    for inner, path in ((member, f"{above}."), (items, f"{above}[].")):
        if inner.get("additionalProperties") is False or (inner.get("allOf") and "$ref" not in inner):
            yield from _rows(inner, path)


def _resolved(member: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = member.get("$ref")
    if reference is None:
        return member
    return {**published_schema()["$defs"][reference.rpartition("/")[2]], **member}


def _type(member: Mapping[str, Any]) -> str:
    if member.get("$ref", "").rpartition("/")[2] in _parts():
        return _parts()[member["$ref"].rpartition("/")[2]].lower()
    found = _resolved(member)
    values = found.get("enum") or ([found["const"]] if "const" in found else None)
    if values:
        return ", ".join(f"`{json.dumps(value)}`" for value in values)
    kinds = found.get("type", "any")
    words = " or ".join([kinds] if isinstance(kinds, str) else kinds)
    if found.get("items") and isinstance(kinds, str):
        return f"list of {_type(found['items'])}"
    bounds = [f"{sign} {found[key]}" for key, sign in (("minimum", "≥"), ("maximum", "≤")) if key in found]
    bounds += (
        [f"at most {found['maxLength']} characters"] if "maxLength" in found and kinds == "string" else []
    )
    return ", ".join([words, *bounds])
