#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the pages promise about the tree: links lead to a file, and to a heading where they name one, every page is
listed in that of its folder, and the README's C++ is the example that is built and run as a test.

usage: check_docs.py ROOT
"""

import re
import sys
from pathlib import Path

from house import finish, is_data, project_files, read_lines

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]+))?[^)]*\)")
HEADING = re.compile(r"#+ (.+)")
EXAMPLE = Path("tests/api/readme_example.cpp")


def anchors(page):
    """What links to headings of a page call them."""
    headings, in_code = [], False
    for line in read_lines(page):
        in_code ^= line.startswith("```")
        headings += [] if in_code else [HEADING.fullmatch(line.strip())]
    return {re.sub(r"[^\w\- ]", "", h.group(1).lower()).replace(" ", "-") for h in headings if h}


def check_links(root, page):
    findings = []
    # A link may be wrapped between two lines: what it leads to is on one.
    for number, line in enumerate(read_lines(root / page), 1):
        for target, anchor in LINK.findall(re.sub(r"^[^\[\]]*\]\(", "[](", line)):
            if re.match(r"[a-z]+:", target):
                continue
            path = root / page.parent / target if target else root / page
            if not path.exists():
                findings.append(f"{page}:{number}: link to '{target}', which is not there")
            elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                findings.append(f"{page}:{number}: link to '{target}#{anchor}', a heading that is not there")
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
    """The README of a folder of docs/, or the page beside the folder that has its name, names every page in it."""
    findings = []
    for folder in sorted({page.parent for page in (root / "docs").rglob("*.md")}):
        readme = folder / "README.md"
        index = readme if readme.is_file() else folder.with_suffix(".md")
        listed = index.read_text() if index.is_file() else ""
        for page in sorted(folder.glob("*.md")):
            if page != index and f"({page.relative_to(index.parent)}" not in listed:
                findings.append(f"{page.relative_to(root)}:1: is not listed in {index.relative_to(root)}")
    return findings


def check(root):
    root = Path(root)
    pages = [p for p in project_files(root) if p.suffix == ".md" and not is_data(p)]
    return [finding for page in pages for finding in check_links(root, page)] + check_index(root) + check_snippet(root)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    finish("docs", check(sys.argv[1]))
