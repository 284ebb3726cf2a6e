#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every public header alone as C++17, the oldest standard that users may have.

usage: check_headers.py ROOT COMPILER
"""

import subprocess
import sys
from pathlib import Path

from house import finish


def check(root, compiler):
    include = Path(root) / "include"
    headers = sorted(include.glob("tenfold/*.hpp")) + sorted(include.glob("tenfold/*.h"))
    findings = [] if headers else [f"{include}: no public header was found"]
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", f"-I{include}"]
    for header in headers:
        # Twice, to see that it guards itself.
        text = f'#include "{header.relative_to(include)}"\n' * 2
        run = subprocess.run([compiler, *flags, "-x", "c++", "-"], input=text, text=True, capture_output=True)
        if run.returncode:
            findings.append(f"{header.relative_to(root)}:1: does not compile alone as C++17\n{run.stderr}")
    return findings


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    finish("headers", check(sys.argv[1], sys.argv[2]))
