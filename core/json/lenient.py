"""Reads what was meant by a text that is almost JSON, so that an error can show the text in full.

Models write code fences, comments, single quotes, trailing commas, and the literals of Python and JavaScript.
Nothing is ever carried out by this reading.
"""

import json
import re
from typing import Any

LENGTH_MOST = 20_000
_FENCE = re.compile(r"\s*```[a-zA-Z0-9]*[ \t]*\n(.*?)\n?```\s*", re.DOTALL)
# Linear: no alternative fails after it has begun to repeat; what none of them takes is one character.
_TOKEN = re.compile(
    r"""(?P<double>"(?:[^"\\]|\\.)*+"?)|(?P<single>'(?:[^'\\]|\\.)*+'?)"""
    r"""|(?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|\#[^\n]*)"""
    r"""|(?P<word>[A-Za-z_$][A-Za-z0-9_$]*)|(?P<number>-?[0-9][0-9.eE+-]*)|(?P<space>\s+)|(?P<other>.)""",
    re.DOTALL,
)
_WORDS = {
    "true": "true", "True": "true", "false": "false", "False": "false", "null": "null", "None": "null",
    "undefined": "null", "NaN": "null", "Infinity": "null", "nan": "null",
}  # fmt: skip
_FOUND = {
    "single": "single quotes; JSON has double quotes only",
    "comment": "a comment; JSON has none",
    "fence": "a code fence around the JSON",
    "comma": "a comma before a closing bracket",
    "word": "a literal of another language",
    "key": "a name without quotes",
}


def json_meant(text: str) -> tuple[Any, list[str]]:
    """Return the value that a text was meant to be, and what is wrong with it in words.

    Raises ValueError where it cannot be read, or has more than 20,000 characters.
    """
    if len(text) > LENGTH_MOST:
        raise ValueError("The text is too long.")
    found: dict[str, None] = {}
    fenced = _FENCE.fullmatch(text)
    if fenced:
        text, found["fence"] = fenced[1], None
    parts = [_written(match, text, found) for match in _TOKEN.finditer(text)]
    parts = [part for part in parts if part]
    kept = []
    for index, part in enumerate(parts):
        if part == "," and index + 1 < len(parts) and parts[index + 1] in "]}":
            found["comma"] = None
        else:
            kept.append(part)
    try:
        meant = json.loads(" ".join(kept))
        # Half a surrogate pair is no text that could be sent: encoding it raises a ValueError.
        json.dumps(meant, ensure_ascii=False).encode()
        return meant, [_FOUND[name] for name in found]
    except RecursionError as error:
        raise ValueError("The text is nested too deep.") from error


def _written(match: re.Match[str], text: str, found: dict[str, None]) -> str:
    kind, part = match.lastgroup, match[0]
    if kind == "single":
        found["single"] = None
        return json.dumps(part[1:-1].replace("\\'", "'").replace('\\"', '"'))
    if kind == "comment":
        found["comment"] = None
        return ""
    if kind == "word":
        if text[match.end() : match.end() + 20].lstrip().startswith(":"):
            found["key"] = None
            return json.dumps(part)
        if part not in ("true", "false", "null"):
            found["word"] = None
        return _WORDS.get(part, part)
    return "" if kind == "space" else part
