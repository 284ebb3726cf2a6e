#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every public header alone as the oldest standard that users may have: C++17, and C++11 for the C++ API
over the shared library and for the C headers.

usage: check_headers.py ROOT COMPILER
"""

import subprocess
import sys
from pathlib import Path

from house import finish


def check(root, compiler):
    include = Path(root) / "include"
    old = sorted(include.glob("tenfold/*.h")) + sorted(include.glob("tenfold/graph.hpp"))
    old += sorted(include.glob("tenfold/graph/*.hpp"))
    # These two are there to say that they are not.
    old += sorted(h for h in include.glob("tenfold/compat/oneapi/dnnl/*") if h.name not in ("dnnl.h", "dnnl.hpp"))
    headers = old + sorted(h for h in include.glob("tenfold/*.hpp") if h not in old)
    findings = [] if headers else [f"{include}: no public header was found"]
    flags = ["-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", f"-I{include}", f"-I{include}/tenfold/compat"]
    for header in headers:
        # Twice, to see that it guards itself.
        text = f'#include "{header.relative_to(include)}"\n' * 2
        standard = "c++11" if header in old else "c++17"
        run = subprocess.run([compiler, f"-std={standard}", *flags, "-x", "c++", "-"], input=text, text=True, capture_output=True)
        if run.returncode:
            findings.append(f"{header.relative_to(root)}:1: does not compile alone as {standard}\n{run.stderr}")
    return findings


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    finish("headers", check(sys.argv[1], sys.argv[2]))
