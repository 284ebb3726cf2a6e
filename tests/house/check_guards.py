#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks for function statics that are made under a guard, in libraries as they were built: a child that is forked while
another thread is in such a guard waits for it for ever. one_of_process() (src/target/fork.hpp) makes them without one.

usage: check_guards.py READELF LIBRARY...
"""

import re
import subprocess
import sys

from house import finish

# Guards of thread_local objects are of type TLS, and nobody else's.
GUARD = re.compile(r"\sOBJECT\s.*\s(_ZGV\S*7tenfold\S*)")
NOT_RUN = 77


def guards(symbols):
    """The guards among the lines of `readelf --symbols`."""
    return sorted({match[1] for match in map(GUARD.search, symbols) if match})


def has_locals(symbols):
    return any(" FUNC " in line and " LOCAL " in line for line in symbols)


def main(readelf, libraries):
    findings = []
    for library in libraries:
        symbols = subprocess.run([readelf, "--symbols", "--wide", library], text=True, capture_output=True, check=True)
        lines = symbols.stdout.splitlines()
        if not has_locals(lines):
            print(f"NOT RUN: {library} has no symbols of its own")
            sys.exit(NOT_RUN)
        findings += [f"{library}: {guard} is made under a guard" for guard in guards(lines)]
    finish("guards", findings)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
