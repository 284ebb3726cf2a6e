# SPDX-License-Identifier: Apache-2.0
"""What the house checks share: which files belong to the project, and how findings are reported."""

import os
import sys
from pathlib import Path

# Everything of ours lives under these; build trees and editors' folders are never looked at.
TOP_FOLDERS = (".ci", "cmake", "docs", "graph", "include", "jit", "schemas", "src", "tests", "tools")
CPP = (".hpp", ".cpp", ".h", ".c")


def project_files(root):
    """Paths of the project's files relative to `root`, sorted."""
    root = Path(root)
    found = [p.relative_to(root) for p in root.iterdir() if p.is_file()] if root.is_dir() else []
    for top in TOP_FOLDERS:
        for folder, folders, names in os.walk(root / top):
            folders[:] = [f for f in folders if f != "__pycache__"]
            found += [(Path(folder) / n).relative_to(root) for n in names]
    return sorted(found)


def is_data(path):
    """Test inputs and goldens: not written to the house rules, and some of them broken on purpose."""
    return path.parts[:2] in (("tests", "data"), ("tests", "golden")) and path.suffix not in CPP


def read_lines(path):
    return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()


def finish(what, findings):
    """Prints the findings, one a line, and ends the program: 0 when there are none."""
    for finding in findings:
        print(finding)
    print(f"{what}: {len(findings)} violation(s)")
    sys.exit(1 if findings else 0)
