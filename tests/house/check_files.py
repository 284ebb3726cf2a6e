#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the files themselves: licence line, opening paragraph, size, names, leftovers.

usage: check_files.py ROOT
"""

import re
import statistics
import sys
from pathlib import Path

from house import CPP, finish, is_data, project_files, read_lines

SPDX = "SPDX-License-Identifier: Apache-2.0"
SOFT_CAP, HARD_CAP = 300, 450
FORBIDDEN_NAME = re.compile(r"(?:.*_)?(?:utils?|helpers?|misc)|common|base|core")
NAMED_BY_CONTENT = ("schemas/ops/core",)  # the IR's dialect of that name
SCRIPTS = ("setup", ".ci/run")
# Written so that no pattern matches this file.
LEFTOVERS = (
    (re.compile(r"\b(?:TO[D]O|FIX[M]E|X{3})\b"), "a note to self"),
    (re.compile(r"^\s*#\s*if\s+[0]\b"), "code that is switched off"),
    (re.compile(r"\bDIS[A]BLED_"), "a test that is switched off"),
    (re.compile(r"(?<![\w./-])/(?:home|root|mnt|Users|work)/\w"), "a path of somebody's machine"),
)


def is_code(path):
    return path.suffix in CPP + (".py", ".cmake") or path.name == "CMakeLists.txt" or path.as_posix() in SCRIPTS


def is_capped(path):
    """Tables and tests may be as long as they need to be."""
    return is_code(path) and path.parts[0] != "tests" and not re.search(r"table", path.stem)


def check_opening(path, lines):
    start = 1 if lines and lines[0].startswith("#!") else 0
    mark = "//" if path.suffix in CPP else "#"
    if len(lines) <= start or lines[start] != f"{mark} {SPDX}":
        return f"{path}:1: does not begin with '{mark} {SPDX}'"
    if path.name == "CMakeLists.txt" or path.suffix == ".cpp":
        return None  # of a .cpp the header says it
    after = lines[start + 1 : start + 3]
    words = r"//\s*\S*\w" if path.suffix in CPP else r'(#|""")\s*\S*\w'
    if not any(re.match(words, line) for line in after):
        return f"{path}:{start + 2}: no paragraph on what the file is for under the licence line"
    return None


def check_name(path):
    findings = []
    for depth, part in enumerate(path.parts):
        here = "/".join(path.parts[: depth + 1])
        if FORBIDDEN_NAME.fullmatch(part.split(".")[0]) and here not in NAMED_BY_CONTENT:
            findings.append(f"{path}:1: '{part}' says nothing about what is in it")
    if path.suffix in CPP and not re.fullmatch(r"[a-z0-9_]+\.[a-z]+", path.name):
        findings.append(f"{path}:1: file names are snake_case")
    return findings


def check(root):
    """All violations under `root`, and the line counts of the capped files."""
    findings, sizes = [], {}
    for path in project_files(root):
        if is_data(path):
            continue
        findings += check_name(path)
        if not is_code(path):
            continue
        lines = read_lines(Path(root) / path)
        opening = check_opening(path, lines)
        if opening:
            findings.append(opening)
        for number, line in enumerate(lines, 1):
            findings += [f"{path}:{number}: {what}: {line.strip()}" for leftover, what in LEFTOVERS if leftover.search(line)]
        if is_capped(path):
            sizes[path] = len(lines)
            if len(lines) > HARD_CAP:
                findings.append(f"{path}:1: {len(lines)} lines, the cap is {HARD_CAP}")
    return findings, sizes


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    findings, sizes = check(sys.argv[1])
    for path, count in sorted(sizes.items(), key=lambda item: -item[1]):
        if SOFT_CAP < count <= HARD_CAP:
            print(f"{path}: {count} lines, over the soft cap of {SOFT_CAP}")
    code = [count for path, count in sizes.items() if path.suffix in CPP]
    if code:
        print(f"{len(code)} C++ files outside tests, median {statistics.median(code):.0f} lines, longest {max(code)}")
    finish("files", findings)


if __name__ == "__main__":
    main()
