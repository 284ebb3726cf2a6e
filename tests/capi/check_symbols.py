#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the shared library exports, by `nm`.

usage: check_symbols.py listed NM LIBRARY LIST    exactly the names of the list: the ABI changes knowingly or not at all
       check_symbols.py prefix NM LIBRARY LIST    nothing but tenfold_*, whatever the list says, all under TENFOLD_0
"""

import re
import subprocess
import sys
from pathlib import Path


def exported(nm, library):
    """Names of the dynamic symbols that the library defines, with their versions: {name: version}."""
    run = subprocess.run([nm, "-D", "--defined-only", library], text=True, capture_output=True, check=True)
    names = {}
    for line in run.stdout.splitlines():
        name, _, version = line.split()[-1].partition("@")
        if name != "TENFOLD_0":  # the version's own entry
            names[name] = version.lstrip("@")
    return names


def check_listed(names, listed):
    wanted = {line for line in Path(listed).read_text().splitlines() if line and not line.startswith("#")}
    return [f"{name}: exported, but not in {listed}" for name in sorted(names.keys() - wanted)] + [
        f"{name}: in {listed}, but not exported" for name in sorted(wanted - names.keys())
    ]


def check_prefix(names, _):
    findings = [] if names else ["the library exports nothing"]
    for name, version in sorted(names.items()):
        if not re.fullmatch(r"tenfold_[a-z0-9_]+", name) or version != "TENFOLD_0":
            findings.append(f"{name}@{version}: only tenfold_* may leave the library, as TENFOLD_0")
    return findings


def main():
    checks = {"listed": check_listed, "prefix": check_prefix}
    if len(sys.argv) != 5 or sys.argv[1] not in checks:
        sys.exit(__doc__)
    what, nm, library, listed = sys.argv[1:]
    names = exported(nm, library)
    findings = checks[what](names, listed)
    for finding in findings:
        print(finding)
    print(f"{len(names)} symbols, {len(findings)} finding(s)")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
