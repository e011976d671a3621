"""Characters that nobody sees, that turn the direction of a text, or that look like others."""

import re
import unicodedata
from collections.abc import Iterator

from toolhub_sdk.visible_text import INVISIBLE

_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_WORD = re.compile(r"[^\W\d_]+")
# Text pushed out of sight.
_FAR = re.compile(r"(?<!\s)(?:[ \t]{60,}+\S|(?:[ \t]*+\r?\n){15,}+[ \t]*+\S)")
_LOOKALIKE = ("CYRILLIC", "GREEK")
_LOOKALIKE_LETTERS = re.compile("[\u0370-\u03ff\u0400-\u052f]")


def invisible_findings(text: str) -> Iterator[tuple[str, str]]:
    """Code and words for what is hidden in a text, one of each kind.

    Joiners and variation selectors within emoji and within scripts that need them are not reported.
    """
    hidden = [found for found in INVISIBLE.finditer(text) if not _is_joining(text, found.start())]
    hidden += _PRIVATE.finditer(text)
    if hidden:
        names = ", ".join(dict.fromkeys(_name(found.group()) for found in hidden))
        yield "INVISIBLE_CHARACTER", f"{len(hidden)} invisible characters: {names[:300]}."
    far = _FAR.search(text)
    if far:
        yield "TEXT_OUT_OF_SIGHT", "Much empty space comes before a part of the text."
    for word in _WORD.findall(text) if _LOOKALIKE_LETTERS.search(text) else ():
        if _is_mixed(word):
            yield "LOOKALIKE_LETTER", f"A word mixes letters that look alike: {_escaped(word)}."
            return


def _is_joining(text: str, at: int) -> bool:
    char, before = text[at], text[at - 1 : at]
    if char not in "\u200c\u200d\ufe0e\ufe0f" or not before:
        return False
    if char == "\u200c" or unicodedata.category(before)[0] in "LM":
        # Persian and the scripts of India are written with joiners.
        return unicodedata.category(before)[0] in "LM" and not unicodedata.name(before, "").startswith(
            ("LATIN", "CYRILLIC", "GREEK")
        )
    return unicodedata.category(before) in {"So", "Sk", "Sm", "Po", "Nd", "Mn"} and (
        char != "\u200d" or ord(before) > 0x2000
    )


def _name(char: str) -> str:
    return f"\\u{ord(char):04x} {unicodedata.name(char, 'control').lower()}"


def _is_mixed(word: str) -> bool:
    names = [unicodedata.name(letter, "") for letter in word]
    latin = any(name.startswith("LATIN") for name in names)
    return latin and any(name.startswith(_LOOKALIKE) for name in names) and "µ" not in word


def _escaped(word: str) -> str:
    return word[:60].encode("unicode_escape").decode("ascii")
