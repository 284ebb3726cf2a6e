#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom: the table of docs/design.md, section 3, against every #include of the rooms.

usage: check_layers.py ROOT
"""

import re
import sys
from pathlib import Path

from house import CPP, finish, project_files, read_lines

GRAPH_DOORS = {
    "graph/text/text.hpp",
    "graph/read/json.hpp",
    "graph/read/onnx.hpp",
    "graph/write/json.hpp",
    "graph/write/onnx.hpp",
    "graph/check/check.hpp",
    "graph/pass/pass.hpp",
    "graph/eval/eval.hpp",
    "graph/eval/bound.hpp",
}
JIT_DOORS = {"jit/abi.hpp", "jit/announce.hpp", "jit/code.hpp", "jit/emit.hpp", "jit/listing.hpp"}
JIT_FLOORS = {
    f"jit/{name}"
    for name in ("assembler", "vector", "state", "nest", "rows", "columns", "packed", "lane", "function", "stage", "operand", "staged", "flat")
}
COMPILE_STAGES = {f"src/compile/{name}" for name in ("lower", "plan", "heavy", "partition", "cache", "bind")}
ABI = {"jit/abi.hpp"}
ONEDNN_DOORS = {"onednn/call.hpp", "onednn/spec.hpp"}
FORK_DOOR = {"target/fork.hpp"}
LATE_DOORS = {"onednn/door.hpp", "graph/read/onnx_door.hpp"}

# Room -> what it may include beside itself and std: rooms, single headers ("doors"), third-party names, "system" for
# the operating system's and the compiler's headers.
ALLOWED = {
    "include/tenfold": set(),
    "schemas": {"include/tenfold"},
    "graph/ir": {"include/tenfold", "schemas"},
    "graph/text": {"graph/ir", "include/tenfold", "schemas"},
    "graph/read": {"graph/ir", "include/tenfold", "schemas", "nlohmann", "onnx"},
    "graph/write": {"graph/ir", "include/tenfold", "schemas", "onnx"},
    "graph/check": {"graph/ir", "include/tenfold", "schemas"},
    "graph/eval": {"graph/ir", "include/tenfold", "schemas"},
    "graph/pass": {"graph/ir", "graph/check", "graph/eval", "graph/text", "include/tenfold", "schemas"},
    "src/target": {"include/tenfold", "system"},
    "src/kernel": {"include/tenfold"},
    "src/schedule": {"src/target", "src/kernel", "include/tenfold"},
    "jit": {"src/kernel", "src/schedule", "src/target", "include/tenfold", "system", "zydis"} | JIT_FLOORS,
    "jit/assembler": {"include/tenfold", "xbyak"} | ABI,
    "jit/vector": {"jit/assembler", "src/kernel", "src/target", "include/tenfold"},
    # reductions of one plain tensor
    "jit/state": {"jit/vector", "jit/assembler", "src/kernel", "src/schedule"} | ABI,
    "jit/nest": {"jit/state", "jit/vector", "jit/assembler", "src/kernel", "src/schedule"} | ABI,
    "jit/rows": {"jit/nest", "src/kernel", "src/schedule"},
    "jit/columns": {"jit/nest", "src/kernel", "src/schedule"},
    "jit/packed": {"jit/nest", "jit/state", "jit/vector", "jit/assembler", "src/kernel", "src/schedule"},
    # all other bodies, by lane programs
    "jit/lane": {"jit/vector", "jit/assembler", "src/kernel"},
    "jit/function": {"jit/lane", "src/kernel", "include/tenfold"},
    "jit/stage": {"jit/function", "jit/lane", "jit/vector", "src/kernel", "src/schedule", "include/tenfold"},
    "jit/operand": {"jit/lane", "jit/vector", "jit/assembler", "src/kernel", "src/schedule"} | ABI,
    "jit/staged": {"jit/operand", "jit/stage", "jit/lane", "jit/assembler", "src/kernel", "src/schedule"} | ABI,
    "jit/flat": {"jit/operand", "jit/stage", "jit/lane", "jit/assembler", "src/kernel", "src/schedule"},
    "src/runtime": {"jit/code.hpp", "jit/abi.hpp", "include/tenfold", "system", "pool"} | FORK_DOOR,
    "src/onednn": {"target/weak_cache.hpp", "include/tenfold", "system", "onednn"} | FORK_DOOR,
    "src/compile": {"graph/ir", "src/kernel", "src/schedule", "src/target", "src/runtime", "include/tenfold", "nlohmann"}
    | COMPILE_STAGES
    | JIT_DOORS,
    "src/compile/lower": {"graph/ir", "src/kernel", "include/tenfold", "schemas"} | GRAPH_DOORS,
    "src/compile/plan": {"src/kernel", "src/schedule", "src/target", "include/tenfold"},
    "src/compile/heavy": {"src/compile/lower", "graph/ir", "src/target", "include/tenfold"} | GRAPH_DOORS | ONEDNN_DOORS,
    "src/compile/partition": {
        "src/compile/lower",
        "src/compile/plan",
        "src/compile/heavy",
        "graph/ir",
        "src/kernel",
        "src/schedule",
        "src/target",
        "include/tenfold",
    }
    | JIT_DOORS,
    "src/compile/cache": {"src/compile/plan", "src/target", "include/tenfold"} | JIT_DOORS,
    "src/compile/bind": {
        "compile/report.hpp",
        "src/compile/lower",
        "src/compile/plan",
        "src/compile/heavy",
        "src/compile/partition",
        "src/compile/cache",
        "graph/ir",
        "src/kernel",
        "src/schedule",
        "src/runtime",
        "include/tenfold",
    }
    | GRAPH_DOORS,
    "src/api": {"src/compile", "compile/cache/constant_cache.hpp", "src/runtime", "src/target", "graph/ir", "include/tenfold", "schemas"}
    | GRAPH_DOORS,
    "src/capi": {"src/api", "graph/ir", "include/tenfold", "schemas", "system"} | FORK_DOOR | LATE_DOORS,
    "tools": {"include/tenfold", "schemas", "graph/ir", "src/target", "src/compile", "nlohmann", "cli11", "onednn", "system"}
    | {"compile/lower/lower.hpp"}
    | GRAPH_DOORS,
}
# Files of the command that may look at how a kernel is made: the named commands' own files.
WORKBENCH = re.compile(r"tools/((explain|tune)[a-z_]*|bench/[a-z_]+)\.(cpp|hpp)$")
WORKBENCH_ALLOWED = {"src/kernel", "src/schedule", "src/runtime"} | JIT_DOORS

# Third-party library -> the only file that may include it in a room, or None: any file, but just one per room.
ONE_FILE = {"xbyak": "jit/assembler/assembler.hpp", "onednn": None, "pool": None, "zydis": None}

THIRD_PARTY = (
    (re.compile(r"xbyak/"), "xbyak"),
    (re.compile(r"nlohmann/"), "nlohmann"),
    (re.compile(r"CLI/"), "cli11"),
    (re.compile(r"onnx/"), "onnx"),
    (re.compile(r"(oneapi/dnnl/|dnnl)"), "onednn"),
    (re.compile(r"Zy(dis|core)/"), "zydis"),
    (re.compile(r"(pthreadpool\.h|tbb/|oneapi/tbb)"), "pool"),
)
SRC_ROOMS = {"target", "kernel", "schedule", "onednn", "compile", "runtime", "api", "capi"}
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
STD = re.compile(r"[a-z_0-9]+|std(?:def|int)\.h")  # C++'s, and what C's public header needs


def room_of_file(path):
    """The room that a file (relative path) belongs to, or None."""
    parts = path.parts
    if parts[:2] == ("include", "tenfold"):
        return "include/tenfold"
    if parts[:2] == ("src", "compile") and len(parts) > 3:
        return "/".join(parts[:3])
    if parts[0] in ("graph", "src", "jit") and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0] if parts[0] in ("schemas", "jit", "tools") else None


def classify(bracket, name):
    """What an include means: ("std", ..), ("room", ..), ("library", ..) or ("bad", why)."""
    for pattern, library in THIRD_PARTY:
        if pattern.match(name):
            return "library", library
    if bracket == "<":
        return ("std", name) if STD.fullmatch(name) else ("library", "system")
    parts = Path(name).parts
    if parts[0] == "tenfold":
        return "room", "include/tenfold"
    if parts[0] == "compile" and len(parts) > 2:
        return "room", "/".join(("src", *parts[:2]))
    if parts[0] in SRC_ROOMS and len(parts) > 1:
        return "room", f"src/{parts[0]}"
    if parts[0] == "src":
        return "bad", "is included without 'src/' in front"
    if parts[0] in ("graph", "jit") and len(parts) > 2:
        return "room", "/".join(parts[:2])
    if parts[0] in ("schemas", "jit", "tools") and len(parts) > 1:
        return "room", parts[0]
    return "bad", "is no header of a room (include by the path from the project's root)"


def allowed_for(path, room):
    extra = WORKBENCH_ALLOWED if WORKBENCH.search(path.as_posix()) else set()
    return ALLOWED[room] | extra


def check(root):
    """All violations under `root`, as "file:line: text"."""
    findings, library_users = [], {}
    for path in project_files(root):
        room = room_of_file(path)
        if room is None or path.suffix not in CPP:
            continue
        if room not in ALLOWED:
            findings.append(f"{path}:1: '{room}' is no room of docs/design.md, section 3")
            continue
        for number, line in enumerate(read_lines(Path(root) / path), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            kind, what = classify(*match.groups())
            name, where = match.group(2), f"{path}:{number}"
            if kind == "bad":
                findings.append(f"{where}: '{name}' {what}")
            elif kind == "library" and what in ALLOWED[room]:
                library_users.setdefault((room, what), {}).setdefault(path.as_posix(), number)
            elif kind != "std" and what != room and not {what, name} & allowed_for(path, room):
                findings.append(f"{where}: {room} may not include '{name}' ({what})")
    for (room, library), users in sorted(library_users.items()):
        if library not in ONE_FILE:
            continue
        owner = ONE_FILE[library] or sorted(users)[0]
        for user, number in sorted(users.items()):
            if user != owner:
                findings.append(f"{user}:{number}: {library} is included through one file of {room} only: {owner}")
    return findings


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    finish("layers", check(sys.argv[1]))
