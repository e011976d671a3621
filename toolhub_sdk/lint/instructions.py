"""Instructions to the model, hidden in what should describe a tool."""

import functools
import re
from collections.abc import Iterator

from toolhub_sdk.lint.texts import visible
from toolhub_sdk.normal_form import normalised
from toolhub_sdk.visible_text import INVISIBLE

CHARACTERS_MAX = 20_000
OFTEN = 64

_ANYONE = r"(?:the |any |your )?(?:users?|humans?|person|people|operator|anyone|anybody|them|admin\w*)"
_SECRETS = (
    r"(?:passwords?|credentials?|api[ _-]?keys?|private keys?|ssh keys?|access tokens?|secrets?"
    r"|environment variables|system prompt|(?:chat|conversation|message) (?:history|log)|conversation"
    r"|previous (?:messages|tool results?)|~/\.\w+|\.env\b|id_rsa|\.ssh\b|/etc/(?:passwd|shadow)|mcp\.json"
    r"|\.aws)"
)
# Of a text in which white space is one space: repeated ones would be tried again and again.
_RULES: tuple[tuple[str, str], ...] = (
    (
        "tells the model to drop what it was told",
        (
            r"\b(?:ignore|disregard|forget|overrides?|bypass)\b.{0,30}\b(?:previous|prior|above|earlier"
            r"|preceding|other|system|all|any|existing|safety)\b.{0,20}\b(?:instructions?|prompts?|rules|guidelines|messages"
            r"|directions|constraints|policies|tools?)\b"
        ),
    ),
    (
        "tells the model to keep something from people",
        r"\b(?:do not|don't|dont|never|must not|should not|shouldn't|avoid|without) (?:ever )?(?:tell"
        r"|inform|mention|reveal|show|notify|alert|disclose|report|explain|telling|informing|mentioning|revealing"
        r"|notifying|alerting|disclosing|letting)\b.{0,60}?\b(?:to )?" + _ANYONE + r"\b",
    ),
    (
        "tells the model to keep something from people",
        r"\b(?:hide|conceal|keep)\b.{0,40}\b(?:secret |hidden )?from " + _ANYONE + r"\b",
    ),
    (
        "speaks to the model in the voice of its system",
        (
            r"< ?/? ?(?:important|system|instructions?|secret|assistant|admin|hidden|critical) ?>|\[/?INST\]"
            r"|<\|\w+\|>|<< ?SYS ?>>|(?:^|[.!?>] )(?:system|assistant) ?:\s|<!--"
        ),
    ),
    (
        "tells the model who it is",
        (
            r"\b(?:you are now|from now on,? you|pretend (?:to be|that)|act as (?:if|though"
            r"|an? (?:admin|root|system))|new (?:system )?instructions?:)"
        ),
    ),
    (
        "puts itself before other tools",
        (
            r"\b(?:before|prior to|instead of|rather than) (?:using|calling|invoking|running) (?:any|all"
            r"|every|each|other|another)\b.{0,20}\btools?\b"
        ),
    ),
    (
        "puts itself before other tools",
        (
            r"\b(?:must|always|should always|shall) (?:first )?(?:call|use|invoke|run) this"
            r" (?:tool|function) (?:first|instead|whenever|for every|for all|on every"
            r"|(?:before|prior to)(?=\W*$|[.;,]| (?:\w+ing )?(?:any|every|each|all|other|another)))\b"
        ),
    ),
    (
        "changes how another tool is used",
        (
            r"\bwhen(?:ever)? (?:you )?(?:use|using|call|calling|invoke|invoking) (?:the )?[`'\"]?"
            r"(?!this\b|it\b)[\w-]+[`'\"]?(?: (?:tool|function))?,? (?:you )?(?:must|always|never|also)\b"
        ),
    ),
    (
        "changes how another tool is used",
        (
            r"\b(?:always|must|also|instead)\b.{0,30}\b(?:bcc|cc|forward|copy|send|redirect|change|set)\b"
            r".{0,80}\s[\w.+-]+@[\w-]+\.\w+"
        ),
    ),
    (
        "puts itself before other tools",
        (
            r"\b(?:never|do not|don't) (?:call|use|invoke) (?:any other|other|another|the (?:built-in"
            r"|official|original|standard))\b.{0,20}\btools?\b"
        ),
    ),
    (
        "asks for secrets or for the conversation",
        r"\b(?:send|forward|post|upload|exfiltrate|leak|transmit|email|e-mail|copy|pass|include|insert|append"
        r"|attach|put|paste|provide|read|collect|fill in)\b.{0,60}(?:the |your |all |full |entire |whole )"
        r"*" + _SECRETS + r".{0,80}\b(?:to|as|in|into|with|via|at|and (?:send|pass|include))\b.{0,40}"
        r"(?:https?://|@|\bparameter\b|\bargument\b|\bfield\b|\bserver\b|\bsidenote\b|\bnotes?\b|\bcontext\b"
        r"|\bthis tool\b|\bbody\b)",
    ),
    (
        "asks for secrets or for the conversation",
        (
            r"\b(?:read|open|cat|load|get|fetch|access|list)\b.{0,40}(?:~/\.(?:ssh|aws|config|cursor|gnupg)|id_rsa"
            r"|/etc/(?:passwd|shadow)|mcp\.json|\.aws/credentials)"
        ),
    ),
    (
        "asks for secrets or for the conversation",
        (
            r"\b(?:summary|summari[sz]e|copy|full text|contents?|transcript)\b.{0,30}\b(?:of )?(?:the |this "
            r"|your )(?:whole |entire |full |previous |current )?(?:conversation|chat|system prompt)\b"
        ),
    ),
    (
        "says that consent is not needed",
        (
            r"\b(?:without|no need (?:to|for)|do not|don't|never|skip) (?:asking|ask|request\w*|wait\w*"
            r"|seek\w*)? ?(?:for )?(?:the |any )?(?:user'?s? )?(?:confirm\w+|permission|consent|approval)\b"
        ),
    ),
    (
        "says that consent is not needed",
        (
            r"\bthe user (?:has )?(?:already )?(?:approved|consented|agreed|authori[sz]ed|confirmed"
            r"|given permission)\b"
        ),
    ),
    ("carries an image that could take data out", r"!\[[^\]]{0,100}\]\( ?https?://[^)\s]{0,200}[?{=]"),
    ("carries a long encoded text", r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{240,}={0,2}(?![A-Za-z0-9+/=])"),
)
_COMPILED = tuple((what, re.compile(pattern, re.IGNORECASE)) for what, pattern in _RULES)
_SPACE = re.compile(r"\s+")


def instruction_findings(text: str) -> tuple[str, ...]:
    """A sentence for each kind of instruction found in a text, with the words that show it.

    The text is read as a model reads it: compatibility forms, invisible characters and line breaks do not
    hide a word. Of a long text the first 20,000 characters are read.
    """
    return _found_in(text) if len(text) <= OFTEN else tuple(_findings(text))


@functools.lru_cache(maxsize=4096)
def _found_in(text: str) -> tuple[str, ...]:
    """Short texts come again and again: keywords and types."""
    return tuple(_findings(text))


def _findings(text: str) -> Iterator[str]:
    plain = normalised("NFKC", INVISIBLE.sub("", text[:CHARACTERS_MAX]))
    plain = _SPACE.sub(" ", plain)[:CHARACTERS_MAX]
    seen = set()
    for what, pattern in _COMPILED:
        found = pattern.search(plain)
        if found and what not in seen:
            seen.add(what)
            yield f"The text {what}: “{visible(found.group().strip())}”."
