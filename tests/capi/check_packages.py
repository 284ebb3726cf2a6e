#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Debian packages of a build tree and looks inside: together they hold each installed file once, the library
is in the package of its SONAME, all public headers in -dev, the command in -tools; dependencies are there; and what
dpkg-deb unpacks can be compiled with and run.

usage: check_packages.py CMAKE CPACK BUILD_FOLDER SOURCE_FOLDER COMPILER FLAGS
"""

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77  # what ctest shows as skipped


def run(*command, **options):
    print("+", shlex.join(map(str, command)), flush=True)
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def files_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or path.is_file()}


def field(package, name):
    return run("dpkg-deb", "--field", package, name).strip()


def unpacked(cpack, build, folder):
    """{name: (package file, its files)}, all of them unpacked to folder/root."""
    run(cpack, "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", folder / "packages")
    packages = {}
    for package in sorted((folder / "packages").glob("*.deb")):
        alone = folder / "alone" / package.stem
        alone.mkdir(parents=True)
        run("dpkg-deb", "--extract", package, alone)
        run("dpkg-deb", "--extract", package, folder / "root")
        packages[field(package, "Package")] = (package, files_below(alone / "usr"))
    return packages


def public_headers(source):
    include = source / "include"
    own = {f"include/tenfold/{name}" for name in ("tenfold.h", "types.h", "graph.hpp")}
    return own | {f"include/{path}" for path in files_below(include) if path.startswith(("tenfold/graph/", "tenfold/compat/"))}


def check_files(packages, installed):
    """Every installed file is in one package, and nothing else is."""
    findings, owner = [], {}
    for name, (_, files) in packages.items():
        for path in sorted(files):
            if path in owner:
                findings.append(f"{path}: in {name} and in {owner[path]}")
            owner[path] = name
    findings += [f"{path}: installed, but in no package" for path in sorted(installed - owner.keys())]
    return findings + [f"{path}: in {owner[path]}, but not installed" for path in sorted(owner.keys() - installed)]


def check_places(packages, source):
    findings = []
    runtime = next((name for name in packages if name.startswith("libtenfold") and name != "libtenfold-dev"), "")
    wanted = {runtime, "libtenfold-dev", "tenfold-tools"}
    if packages.keys() != wanted:
        return [f"packages: {sorted(packages)}"]
    soname = "libtenfold.so." + runtime.removeprefix("libtenfold")
    if not any(path.endswith("/" + soname) for path in packages[runtime][1]):
        findings.append(f"{runtime}: has no {soname}")
    dev = packages["libtenfold-dev"][1]
    findings += [f"libtenfold-dev: has no {path}" for path in sorted(public_headers(source) - dev)]
    for name in ("libtenfold.so", "tenfoldConfig.cmake", "tenfold.pc"):
        if not any(path.endswith("/" + name) for path in dev):
            findings.append(f"libtenfold-dev: has no {name}")
    if "bin/tenfold" not in packages["tenfold-tools"][1]:
        findings.append("tenfold-tools: has no bin/tenfold")
    version = field(packages[runtime][0], "Version")
    if field(packages["libtenfold-dev"][0], "Depends") != f"{runtime} (= {version})":
        findings.append("libtenfold-dev: does not ask for the library of its version")
    for name in (runtime, "tenfold-tools"):
        if not all(library in field(packages[name][0], "Depends") for library in ("libc6 ", "libstdc++6 ", "libtbb12 ")):
            findings.append(f"{name}: does not ask for the libraries that it loads")
    depends = field(packages[runtime][0], "Depends")
    for part, library in (("onednn", "libdnnl"), ("onnx", "libprotobuf-lite")):
        module = soname.replace("tenfold", f"tenfold_{part}")
        if any(path.endswith("/" + module) for path in packages[runtime][1]) and library not in depends:
            findings.append(f"{runtime}: does not ask for {library}, which its {module} loads")
    return findings


def check_use(root, source, compiler, flags, folder):
    """The example, compiled with -dev and run with the library; the command."""
    (shared,) = root.rglob("libtenfold.so")
    program = folder / "example"
    run(compiler, *shlex.split(flags), "-std=c99", source / "docs/examples/c_reduce.c", f"-I{root}/usr/include",
        f"-L{shared.parent}", "-ltenfold", "-o", program)  # fmt: skip
    print(run(program, env={"LD_LIBRARY_PATH": str(shared.parent)}))
    print(run(root / "usr/bin/tenfold", "--version"))


def main():
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    cmake, cpack, build, source, compiler, flags = sys.argv[1:]
    for tool in ("dpkg-deb", "dpkg-shlibdeps"):
        if shutil.which(tool) is None:
            print(f"NOT RUN: {tool} is not installed (dpkg, dpkg-dev)")
            sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packages = unpacked(cpack, Path(build), folder)
        run(cmake, "--install", build, "--prefix", folder / "installed")
        findings = check_files(packages, files_below(folder / "installed")) + check_places(packages, Path(source))
        if not findings:
            check_use(folder / "root", Path(source), compiler, flags, folder)
        for finding in findings:
            print(finding)
        print(f"{len(packages)} packages, {len(findings)} finding(s)")
        sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
