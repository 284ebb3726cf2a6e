#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the build tree to a fresh folder, moves it, and builds and runs an example against it: by find_package and,
where it is installed, by pkg-config.

usage: check_install.py CMAKE BUILD_FOLDER EXAMPLE.c COMPILER FLAGS
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(tenfold {version} REQUIRED)
add_executable(consumer "{example}")
set_target_properties(consumer PROPERTIES C_STANDARD 99)
target_link_libraries(consumer PRIVATE tenfold::c)
"""


def run(*command, **environment):
    print("+", shlex.join(map(str, command)), flush=True)
    return subprocess.run(command, env={**os.environ, **environment}, check=True, text=True, stdout=subprocess.PIPE).stdout


def installed(cmake, build, folder):
    """An installed tree that is no longer where it was installed."""
    run(cmake, "--install", build, "--prefix", folder / "first")
    shutil.move(folder / "first", folder / "moved")
    return folder / "moved"


def by_cmake(cmake, prefix, folder, example, compiler, flags):
    source = folder / "consumer"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT.format(version="0.1", example=example))
    run(cmake, "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={compiler}",
        f"-DCMAKE_C_FLAGS={flags}")  # fmt: skip
    run(cmake, "--build", source / "build")
    print(run(source / "build/consumer"))


def by_pkg_config(prefix, folder, example, compiler, flags):
    if shutil.which("pkg-config") is None:
        print("NOT RUN: pkg-config is not installed")
        return
    (package,) = prefix.rglob("tenfold.pc")
    asked = run("pkg-config", "--cflags", "--libs", "tenfold", PKG_CONFIG_PATH=str(package.parent))
    program = folder / "by_pkg_config"
    run(compiler, *shlex.split(flags), "-std=c99", example, *shlex.split(asked), "-o", program)
    print(run(program, LD_LIBRARY_PATH=str(package.parent.parent)))


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    cmake, build, example, compiler, flags = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prefix = installed(cmake, build, folder)
        headers = sorted(p.name for p in (prefix / "include/tenfold").iterdir())
        if headers != ["tenfold.h"]:
            sys.exit(f"installed headers: {headers}; only tenfold.h is public to those who link the shared library")
        by_cmake(cmake, prefix, folder, example, compiler, flags)
        by_pkg_config(prefix, folder, example, compiler, flags)


if __name__ == "__main__":
    main()
