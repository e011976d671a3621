"""What kind of text somebody gave as the address of a source, and why the hub does not read that kind.

Each answer completes the sentence "The address …" and names the setting that would allow it, if there is one.
"""

import re

OPERATOR = "an operator of the hub can set it"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HELPER = re.compile(r"([A-Za-z0-9]+)::")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_PASSWORD = re.compile(r"ssh://[^/@]*:[^/@]*@")
_NO_USER = re.compile(r"ssh://[^@/]*(?:/|$)|[^@/:]+:[^/:]")
_FILE = re.compile(r"file:///[A-Za-z0-9._/+-]{1,400}")
_TYPED = {
    "git": "uses git://, which is neither encrypted nor authenticated: use https:// or ssh://",
    "http": (
        "uses http://, which is not encrypted: use https://, or allow the host in TOOLHUB_HTTP_ALLOW"
        f" ({OPERATOR})"
    ),
}


def is_file(text: str) -> bool:
    """Whether the text is a file:// address in the form that the hub reads where it is allowed."""
    return bool(_FILE.fullmatch(text)) and ".." not in text.split("/")


def kind_refusal(text: str, *, files_allowed: bool) -> str:
    """Why a text of this kind is no address of a repository; empty for an http(s), ssh or scp-like one."""
    if not text.isascii():
        return "has characters outside ASCII: write the host as xn--…, and other characters percent-encoded"
    if text.startswith("-"):
        return "begins with a hyphen, as an option of a command does"
    if found := _HELPER.match(text):
        return f"names the transport helper {found[1]}::, which would run a program: use https:// or ssh://"
    if text != text.strip() or any(char.isspace() or not char.isprintable() for char in text):
        return "has spaces or control characters"
    if found := _SCHEME.match(text):
        return _scheme_refusal(text, found[1].lower(), files_allowed)
    if text.startswith(("/", "./", "../", "~", "\\")) or text in {".", ".."} or _DRIVE.match(text):
        return (
            "is a path on a machine: upload the package as a zip, or install the folder at the hub's terminal"
            " with manage.py package_install"
        )
    if _NO_USER.match(text):
        return "names no user: write git@host:path, as servers of git want it"
    return ""


def _scheme_refusal(text: str, scheme: str, files_allowed: bool) -> str:
    if scheme == "file":
        if not files_allowed:
            return (
                "is a file:// address: the hub reads repositories on its own machine only where"
                f" TOOLHUB_GIT_FILES is on ({OPERATOR})"
            )
        return (
            "" if is_file(text) else "is not file:/// with an absolute path of letters, digits and . _ + - /"
        )
    if scheme == "ssh":
        if _PASSWORD.match(text):
            return "holds a password: keep a key for the host under Settings, Secrets"
        return "names no user: write ssh://git@host/path" if _NO_USER.match(text) else ""
    if scheme in {"http", "https"}:
        return ""
    return _TYPED.get(scheme, f"uses {scheme}://: only https:// and ssh:// are read")


def plain_refusal() -> str:
    """Why http:// is refused for a host that TOOLHUB_HTTP_ALLOW does not name."""
    return _TYPED["http"]
