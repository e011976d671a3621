"""The shape of SQL, read in one pass: quotes, comments, numbers, words, and where statements end."""

import itertools
import re
from collections.abc import Iterator, Mapping

# Words of one alternative each: nothing to go back for.
_WORD = re.compile(r"\w+")
_STATEMENTS = (
    "select insert update delete with create alter drop truncate grant revoke begin commit rollback set show explain"
    " pragma vacuum analyze analyse copy call do values merge replace use describe desc table lock start savepoint"
    " release declare fetch prepare execute exec deallocate discard reindex refresh comment cluster listen notify"
    " attach detach end abort checkpoint load import shutdown optimize if rename upsert kill handler print waitfor"
)
_JOINED = "or and union order group having into limit procedure xor rlike like where div mod waitfor"
# What comes after a look at data and has no business there.
_CHANGING = (
    "drop alter truncate insert update delete grant revoke create exec execute shutdown declare copy call waitfor"
    " set replace merge attach load use kill"
)
_BEGINS, _CLAUSES, _CHANGES = (frozenset(words.split()) for words in (_STATEMENTS, _JOINED, _CHANGING))
Token = tuple[str, str]
TAG_MAX = 32


def is_broken(text: str) -> bool:
    """Whether a text is no SQL that somebody wrote whole, but one that breaks out of a value of another."""
    tokens = list(_tokens(text))
    if any(kind == "open" for kind, _ in tokens):
        return True
    comments = [text for kind, text in tokens if kind == "comment"]
    if (tokens and tokens[-1][0] == "comment" and not comments[-1].strip("-# \t\r")) or any(
        map(_cuts_off, comments)
    ):
        return True
    words = [token for token in tokens if token[0] != "comment"]
    return _is_value_with_more(words) or _has_impossible_pair(words) or _has_second_statement(words)


def _tokens(text: str) -> Iterator[Token]:
    """Kinds: word, number, string, mark, comment (with its text), and open for what never ends."""
    at, size = 0, len(text)
    tags = _last_tags(text)
    while at < size:
        char = text[at]
        if char.isspace():
            at += 1
        elif text.startswith("--", at) or (char == "#" and text[at + 1 : at + 2] not in {">", "-"}):
            end = text.find("\n", at)
            end = size if end < 0 else end
            yield "comment", text[at:end]
            at = end
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            yield ("open", "") if end < 0 else ("comment", "block")
            at = size if end < 0 else end + 2
        elif char in "'\"`":
            end = text.find(char, at + 1)
            yield ("open", "") if end < 0 else ("string" if char == "'" else "name", char)
            at = size if end < 0 else end + 1
        elif char == "$" and (end := _dollar(text, at, tags)):
            yield "string", "$"
            at = end
        elif found := _WORD.match(text, at):
            word = found.group().lower()
            yield ("number" if word[0].isdigit() else "word"), word
            at = found.end()
        else:
            yield "mark", char
            at += 1


def _cuts_off(comment: str) -> bool:
    """Whether a comment begins where a quote of the statement around it ends: `--'`."""
    return comment.lstrip("-#")[:1] in {"'", '"', ")"}


def _last_tags(text: str) -> dict[str, int]:
    """Where each `$tag$` stands last: a search for one that never comes again would read the rest each time."""
    signs = [at for at, char in enumerate(text) if char == "$"] if "$" in text else []
    pairs = itertools.pairwise(signs)
    return {text[at : close + 1]: at for at, close in pairs if close - at <= TAG_MAX}


def _dollar(text: str, at: int, tags: Mapping[str, int]) -> int:
    """The end of a `$tag$ … $tag$`, or 0."""
    close = text.find("$", at + 1, at + TAG_MAX + 1)
    tag = text[at : close + 1] if close > 0 else ""
    if not tag or not (tag == "$$" or tag[1:-1].isidentifier()) or tags[tag] <= close:
        return 0
    return text.find(tag, close + 1) + len(tag)


def _is_value_with_more(words: list[Token]) -> bool:
    """`1 OR …`, `'' UNION …`, `5; DROP …`, `) OR (…`: a value, and then a clause or an end."""
    lead = 0
    while lead < len(words) and (
        words[lead][0] in {"number", "string"} or words[lead][1] in {"-", ")", "%", ".", "+"}
    ):
        lead += 1
    if not lead or lead == len(words):
        return False
    return words[lead][1] in _CLAUSES or words[lead][1] in {";", "|", "&", "="}


def _has_impossible_pair(words: list[Token]) -> bool:
    """A number beside a text, as where quotes were closed too early."""
    pairs = itertools.pairwise(words)
    return any({left[0], right[0]} == {"number", "string"} for left, right in pairs)


def _has_second_statement(words: list[Token]) -> bool:
    """A statement that changes things after a look at data or after a fragment."""
    firsts: list[str] = []
    fresh = True
    for kind, word in words:
        if fresh and word != ";":
            firsts.append(word if kind == "word" else kind)
            fresh = False
        fresh = fresh or word == ";"
    if len(firsts) < 2:
        return False
    looks = firsts[0] in {"select", "with", "show", "explain", "values"} or firsts[0] not in _BEGINS
    return looks and any(first in _CHANGES for first in firsts[1:])
