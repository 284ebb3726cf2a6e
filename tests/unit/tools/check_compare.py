#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives two JSON reports of `tenfold bench` to Google Benchmark's compare.py, which must find every contender of every
case in both, and a geometric mean.

usage: check_compare.py TENFOLD COMPARE.py
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77  # what ctest shows as skipped
CASES = ["--op", "ReduceMax,ReduceSum", "--shape", "64x64", "--axes", "0;1", "--seconds", "0.02"]


def not_run(why):
    print(f"NOT RUN: {why}")
    sys.exit(SKIPPED)


def interpreter():
    """A Python that has what compare.py imports: Debian's, where its packages are, is not always the first one."""
    for python in (sys.executable, shutil.which("python3", path="/usr/bin")):
        if python and subprocess.run([python, "-c", "import numpy, pandas, scipy.stats"], capture_output=True).returncode == 0:
            return python
    return not_run("compare.py needs numpy, pandas and scipy (python3-pandas, python3-scipy)")


def report(tenfold, path):
    path.write_text(subprocess.run([tenfold, "bench", *CASES, "--json"], check=True, text=True, stdout=subprocess.PIPE).stdout)
    return json.loads(path.read_text())


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tenfold, compare = sys.argv[1:]
    if not Path(compare).is_file():
        not_run("Google Benchmark's compare.py is not installed (libbenchmark-tools)")
    python = interpreter()
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name) / "before.json", Path(name) / "after.json"]
        first, second = (report(tenfold, path) for path in paths)
        command = [python, compare, "--no-color", "benchmarks", *map(str, paths)]
        done = subprocess.run(command, text=True, capture_output=True)
    print(done.stdout, done.stderr)
    both = {b["name"] for b in first["benchmarks"]} & {b["name"] for b in second["benchmarks"]}
    missing = sorted(one for one in both if one not in done.stdout)
    for one in missing:
        print(f"compare.py does not show '{one}'")
    right = done.returncode == 0 and "OVERALL_GEOMEAN" in done.stdout and sum("/tenfold" in one for one in both) >= 8
    sys.exit(0 if right and not missing else 1)


if __name__ == "__main__":
    main()
