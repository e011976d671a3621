"""Characters that nobody sees, that turn the direction of a text, or that look like others."""

import re
import unicodedata
from collections.abc import Iterator

_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_NOTHING = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROL = "\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029"
INVISIBLE = re.compile(f"[{_DIRECTION}{_NOTHING}{_CONTROL}]")
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
