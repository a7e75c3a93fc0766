"""Runs the code blocks of READMEs, and fails where an output differs from the ```text block below the code.

usage: readme.py [README.md ...]
"""

import re
import sys
import tempfile
from pathlib import Path

import sessions

readmes = ["README.md", "bindings/python/README.md", "bindings/r/README.md", "bindings/julia/README.md"]


def blocks(text):
    """Yields the language, the code and the expected output (None without one) of each block."""
    fence = r"```(\w+)\n([\s\S]*?)```\n(?:\n```text\n([\s\S]*?)```)?"
    for language, code, expected in re.findall(fence, text):
        if language in sessions.suffixes:
            yield language, code.rstrip(), expected.rstrip() or None


def main():
    failures = count = 0
    for name in sys.argv[1:] or readmes:
        with sessions.Page(tempfile.mkdtemp()) as page:
            for language, code, expected in blocks((sessions.root / name).read_text()):
                result = page.run(sessions.Block(language, code))
                count += 1
                if result.failed or (expected is not None and result.output.rstrip() != expected):
                    failures += 1
                    print(f"{name}: a block of {language} printed\n{result.output}\ninstead of\n{expected}\n")
    print(f"{count} blocks of READMEs ran")
    sys.exit(f"{failures} failed" if failures else 0)


main()
