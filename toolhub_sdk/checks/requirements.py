"""What a requirements file may hold: names of packages with versions (PEP 508), and nothing that acts."""

import re
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement

REQUIREMENTS_MAX = 200
CHARACTERS_MAX = 512 * 1024
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


class RequirementsError(ValueError):
    """The file is refused: `why` continues "line …", `line` counts from 1, 0 for the whole."""

    def __init__(self, why: str, line: int) -> None:
        super().__init__(f"Line {line} of the requirements {why}." if line else f"The requirements {why}.")
        self.line = line


def requirements_read(text: str) -> list[str]:
    """The requirements of a file, each on one line in normal form, with its hashes.

    Raises RequirementsError for options, addresses, paths and anything that is no PEP 508 name.
    """
    if len(text) > CHARACTERS_MAX:
        raise RequirementsError(f"have more than {CHARACTERS_MAX} characters", 0)
    found = [_requirement(line, number) for number, line in _lines(text)]
    if len(found) > REQUIREMENTS_MAX:
        raise RequirementsError(f"name more than {REQUIREMENTS_MAX} packages", 0)
    return found


def is_locked(requirements: list[str]) -> bool:
    """Whether each requirement, as `requirements_read` gives it, has one exact version and a hash."""
    return all(_HASH.search(line) and _is_exact(_HASH.sub("", line).strip()) for line in requirements)


def _is_exact(line: str) -> bool:
    specifiers = list(Requirement(line).specifier)
    return len(specifiers) == 1 and specifiers[0].operator == "==" and "*" not in specifiers[0].version


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Logical lines with their numbers, without comments, as pip reads them."""
    joined, start = "", 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        start = start or number
        bare = re.sub(r"(^|\s)#.*$", "", line).rstrip()
        joined += bare.removesuffix("\\") + " "
        if bare.endswith("\\"):
            continue
        if joined.strip():
            yield start, joined.strip()
        joined, start = "", 0


def _requirement(line: str, number: int) -> str:
    hashes = _HASH.findall(line)
    bare = _HASH.sub("", line).strip()
    if bare.startswith("-"):
        raise RequirementsError("has an option; only names and versions are taken", number)
    if "${" in bare or " --" in bare:
        raise RequirementsError("has an option or a variable", number)
    try:
        requirement = Requirement(bare)
    except InvalidRequirement as error:
        raise RequirementsError("is no requirement by PEP 508", number) from error
    if requirement.url:
        raise RequirementsError("names an address; only packages by name are taken", number)
    return " ".join([str(requirement), *sorted(set(hashes))])
