#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that clang-format would change nothing. Its versions disagree with each other, so only the one that
.clang-format names will do; without it the check says NOT RUN and exits 77, which ctest shows as skipped.

usage: check_format.py ROOT
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from house import CPP, finish, is_data, project_files

SKIP = 77


def find_clang_format(major):
    for name in (f"clang-format-{major}", "clang-format"):
        program = shutil.which(name)
        if program is None:
            continue
        version = subprocess.run([program, "--version"], text=True, capture_output=True).stdout
        match = re.search(r"version (\d+)\.", version)
        if match and match.group(1) == major:
            return program
    return None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = Path(sys.argv[1])
    wanted = re.search(r"^# clang-format (\d+)", (root / ".clang-format").read_text(), re.MULTILINE)
    if not wanted:
        finish("format", [".clang-format:1: no comment '# clang-format N' says which version"])
    program = find_clang_format(wanted.group(1))
    if program is None:
        print(f"NOT RUN: clang-format {wanted.group(1)} is not installed")
        sys.exit(SKIP)
    files = [p.as_posix() for p in project_files(root) if p.suffix in CPP and not is_data(p)]
    run = subprocess.run(
        [program, "--dry-run", "-Werror", "--style=file", *files], cwd=root, text=True, capture_output=True
    )
    first_by_file = {}
    for line in run.stderr.splitlines():
        match = re.match(r"(\S+?):(\d+):\d+: error: ", line)
        if match:
            first_by_file.setdefault(match.group(1), match.group(2))
    findings = [f"{name}:{line}: clang-format would change it" for name, line in first_by_file.items()]
    if run.returncode and not findings:
        findings = [run.stderr]
    print(f"{len(files)} files, {program}")
    finish("format", findings)


if __name__ == "__main__":
    main()
