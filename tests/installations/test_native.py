"""A compiled program is a tool: installed with its package, tried by its examples, and called."""

import json
import subprocess
from pathlib import Path

import pytest

from registry.archives.zips import zip_write
from tests.installations.conftest import Install, called
from tests.sandbox.packages import tool_of

pytestmark = pytest.mark.sandbox
SOURCE = """
#include <stdio.h>
#include <string.h>
int main(void) {
    char text[65536];
    size_t length = fread(text, 1, sizeof text - 1, stdin);
    text[length] = 0;
    const char *word = strstr(text, "\\"word\\":\\"");
    printf("%zu\\n", word ? strcspn(word + 8, "\\"") : 0);
    return 0;
}
"""


def test_a_compiled_program_is_a_tool(install: Install, tmp_path: Path) -> None:
    (tmp_path / "tool.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O1", "-o", "tool", "tool.c"], cwd=tmp_path, check=True)
    examples = [{"arguments": {"word": "four"}, "result": 4}]
    manifest = {
        "manifestVersion": "1",
        "name": "word-length",
        "version": "1.0.0",
        "description": "Counts the bytes of a word.",
        "runtime": {"type": "command", "entry": "bin/length"},
        "tools": [tool_of("word_length", sideEffects="pure", examples=examples)],
    }
    program = (tmp_path / "tool").read_bytes()
    one = install(zip_write({"toolhub.json": json.dumps(manifest).encode(), "bin/length": program}))
    assert one.status == "published", one.error
    done = called("word_length", word="compiled")
    assert (done.sandbox or {})["level"] == "isolated"
    assert (done.data, done.error) == (8, None)
