#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the pages promise about the tree: links lead somewhere, docs/README.md lists every page, and the
README's C++ is the example that is built and run as a test.

usage: check_docs.py ROOT
"""

import re
import sys
from pathlib import Path

from house import finish, is_data, project_files, read_lines

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")
EXAMPLE = Path("tests/api/readme_example.cpp")


def check_links(root, page):
    findings = []
    for number, line in enumerate(read_lines(root / page), 1):
        for target in LINK.findall(line):
            if not re.match(r"[a-z]+:", target) and not (root / page.parent / target).exists():
                findings.append(f"{page}:{number}: link to '{target}', which is not there")
    return findings


def cpp_blocks(lines):
    """The lines of the ```cpp blocks, each with its line number."""
    inside = False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            inside = line.strip() == "```cpp"
        elif inside:
            yield number, line


def check_snippet(root):
    """Every line of the README's C++ stands in the example, in the same order, indented as it may be."""
    if not (root / EXAMPLE).is_file():
        return [f"{EXAMPLE}:1: the README's example is not there"]
    example = iter(line.strip() for line in read_lines(root / EXAMPLE))
    for number, line in cpp_blocks(read_lines(root / "README.md")):
        if line.strip() and line.strip() not in example:
            return [f"README.md:{number}: not in {EXAMPLE}, or not in this order: {line.strip()}"]
    return []


def check_index(root):
    """docs/README.md names every page beside it."""
    index = root / "docs/README.md"
    listed = index.read_text() if index.is_file() else ""
    pages = sorted(p.name for p in (root / "docs").glob("*.md") if p != index)
    return [f"docs/{page}:1: is not listed in docs/README.md" for page in pages if f"({page})" not in listed]


def check(root):
    root = Path(root)
    pages = [p for p in project_files(root) if p.suffix == ".md" and not is_data(p)]
    return [finding for page in pages for finding in check_links(root, page)] + check_index(root) + check_snippet(root)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    finish("docs", check(sys.argv[1]))
