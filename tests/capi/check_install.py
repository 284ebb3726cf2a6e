#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the build tree to a fresh folder, moves it, and builds and runs an example against it: by find_package and,
where it is installed, by pkg-config; and a program written for oneDNN Graph by find_package. The pages of the examples
link to pages that are installed.

usage: check_install.py CMAKE BUILD_FOLDER EXAMPLE.c COMPILER FLAGS PORTED.cpp CXX_COMPILER CXX_FLAGS
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(consumer C CXX)
find_package(tenfold {version} REQUIRED COMPONENTS c dnnl_graph_compat)
find_package(tenfold {version} QUIET COMPONENTS static)
if(tenfold_FOUND)
  message(FATAL_ERROR "tenfold has no component 'static'")
endif()
add_executable(consumer "{example}")
set_target_properties(consumer PROPERTIES C_STANDARD 99)
target_link_libraries(consumer PRIVATE tenfold::c)
add_executable(ported "{ported}")
set_target_properties(ported PROPERTIES CXX_STANDARD 11)
target_link_libraries(ported PRIVATE tenfold::dnnl_graph_compat)
add_executable(guarded guarded.cpp)
set_target_properties(guarded PROPERTIES CXX_STANDARD 11)
target_link_libraries(guarded PRIVATE tenfold::dnnl_graph_compat)
"""

STANDING = ["dnnl_config.h", "dnnl_graph.hpp", "dnnl_threadpool.hpp", "dnnl_threadpool_iface.hpp", "dnnl_version.h"]
COMPAT = ["dnnl.h", "dnnl.hpp", *STANDING]  # the first two are errors that say so

GUARDED = "".join(f'#include "oneapi/dnnl/{name}"\n' for name in STANDING) + """
#if DNNL_GPU_RUNTIME != DNNL_RUNTIME_NONE || DNNL_CPU_RUNTIME == DNNL_RUNTIME_NONE || DNNL_VERSION_MAJOR < 3
#error "the macros say something else"
#endif
int main() { return dnnl::engine::get_count(dnnl::engine::kind::cpu) == 1 ? 0 : 1; }
"""


def run(*command, **environment):
    print("+", shlex.join(map(str, command)), flush=True)
    return subprocess.run(command, env={**os.environ, **environment}, check=True, text=True, stdout=subprocess.PIPE).stdout


def installed(cmake, build, folder):
    """An installed tree that is no longer where it was installed."""
    run(cmake, "--install", build, "--prefix", folder / "first")
    shutil.move(folder / "first", folder / "moved")
    return folder / "moved"


def check_links(docs):
    """What the installed pages link to is installed as well."""
    pages = sorted(docs.rglob("*.md"))
    if not any(page.parent.name == "examples" for page in pages):
        sys.exit(f"{docs}: no page of an example is installed")
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
            if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                sys.exit(f"installed {page.name}: link to '{target}', which is not there")


def by_cmake(cmake, prefix, folder, example, compiler, flags, ported, cxx_compiler, cxx_flags):
    source = folder / "consumer"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT.format(version="0.1", example=example, ported=ported))
    (source / "guarded.cpp").write_text(GUARDED)
    run(cmake, "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={compiler}",
        f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_COMPILER={cxx_compiler}", f"-DCMAKE_CXX_FLAGS={cxx_flags}")  # fmt: skip
    run(cmake, "--build", source / "build")
    print(run(source / "build/consumer"))
    print(run(source / "build/ported"))
    run(source / "build/guarded")


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
    if len(sys.argv) != 9:
        sys.exit(__doc__)
    cmake, build, example, compiler, flags, *cxx = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prefix = installed(cmake, build, folder)
        headers = sorted(p.name for p in (prefix / "include/tenfold").iterdir())
        if headers != ["compat", "graph", "graph.hpp", "tenfold.h", "types.h"]:
            sys.exit(f"installed headers: {headers}; the others are not for those who link the shared library")
        compat = sorted(p.name for p in (prefix / "include/tenfold/compat/oneapi/dnnl").iterdir())
        if compat != COMPAT:
            sys.exit(f"installed compat headers: {compat}; they are {COMPAT}")
        check_links(prefix / "share/doc/libtenfold-dev/docs")
        by_cmake(cmake, prefix, folder, example, compiler, flags, *cxx)
        by_pkg_config(prefix, folder, example, compiler, flags)


if __name__ == "__main__":
    main()
