#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the op descriptors into constexpr tables.

Reads schemas/ops/<dialect>/*.json, checks them by the rules of op.schema.json (in plain Python, so that the build needs
no package) and writes one .cpp that defines tenfold::schemas::all_ops() (op_table.hpp). The dtypes that a descriptor
may name are read from include/tenfold/dtype.hpp.

usage: generate.py --dtypes DTYPE.HPP --output FILE.cpp OP.json...
"""

import argparse
import json
import re
import sys
from pathlib import Path

DIALECTS = ["onednn", "onnx", "core"]
CATEGORIES = ["reduction", "unary", "binary", "select", "conversion", "map", "view", "other", "softmax",
              "normalization", "quantization", "data", "matmul", "convolution", "pooling", "resampling", "backward",
              "variadic"]
ATTR_TYPES = {"s64": "s64", "s64[]": "s64s", "f32": "f32", "f32[]": "f32s", "bool": "boolean", "string": "string"}
MAX_UINT8 = 255


class DescriptorError(Exception):
    """A descriptor breaks a rule; the text names the file and the place."""


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_list_of(test):
    return lambda value: isinstance(value, list) and all(test(v) for v in value)


VALUE_TESTS = {
    "s64": is_integer,
    "s64[]": is_list_of(is_integer),
    "f32": is_number,
    "f32[]": is_list_of(is_number),
    "bool": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
}


def reject_duplicates(pairs):
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise DescriptorError(f"key '{key}' occurs twice in one object")
    return dict(pairs)


def require(condition, place, message):
    if not condition:
        raise DescriptorError(f"at {place}: {message}")


def check_keys(value, place, required, optional=()):
    require(isinstance(value, dict), place, "expected an object")
    for key in required:
        require(key in value, place, f"key '{key}' is missing")
    for key in value:
        known = ", ".join([*required, *optional])
        require(key in required or key in optional, place, f"unknown key '{key}' (known: {known})")


def check_name(value, place):
    require(isinstance(value, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value), place,
            f"expected a name, found {json.dumps(value)}")


def check_unique(names, place):
    for name in names:
        require(names.count(name) == 1, place, f"'{name}' stands twice")


def check_ports(ports, place, symbols):
    require(isinstance(ports, list), place, "expected a list of ports")
    for i, port in enumerate(ports):
        here = f"{place}/{i}"
        check_keys(port, here, ["name", "type"], ["optional", "variadic", "mixed", "decides_shape"])
        check_name(port["name"], f"{here}/name")
        require(port["type"] in symbols, f"{here}/type",
                f"'{port['type']}' is not among type_constraints ({', '.join(symbols)})")
        for flag in ("optional", "variadic", "mixed", "decides_shape"):
            require(isinstance(port.get(flag, False), bool), f"{here}/{flag}", "expected true or false")
        require(not port.get("variadic") or i + 1 == len(ports), here, "only the last port may be variadic")
        require(not port.get("mixed") or port.get("variadic"), here, "only a variadic port may be mixed")
    check_unique([port["name"] for port in ports], place)


def check_attributes(attributes, place):
    require(isinstance(attributes, list), place, "expected a list of attributes")
    for i, attribute in enumerate(attributes):
        here = f"{place}/{i}"
        check_keys(attribute, here, ["name", "type"], ["required", "default", "allowed"])
        check_name(attribute["name"], f"{here}/name")
        kind = attribute["type"]
        require(kind in ATTR_TYPES, f"{here}/type", f"'{kind}' is not one of {', '.join(ATTR_TYPES)}")
        require(isinstance(attribute.get("required", False), bool), f"{here}/required", "expected true or false")
        require(not (attribute.get("required") and "default" in attribute), here,
                "a required attribute has no default")
        if "default" in attribute:
            require(VALUE_TESTS[kind](attribute["default"]), f"{here}/default", f"does not have the type {kind}")
        if "allowed" in attribute:
            allowed = attribute["allowed"]
            require(kind == "string", f"{here}/allowed", "only a string attribute has allowed values")
            require(is_list_of(VALUE_TESTS["string"])(allowed) and allowed, f"{here}/allowed",
                    "expected a list of strings that is not empty")
            check_unique(allowed, f"{here}/allowed")
            require(attribute.get("default", allowed[0]) in allowed, f"{here}/default", "is not among 'allowed'")
    check_unique([attribute["name"] for attribute in attributes], place)


def check_constraints(constraints, place, dtypes):
    require(isinstance(constraints, dict), place, "expected an object of dtype lists")
    require(len(constraints) <= MAX_UINT8, place, "too many type constraints")
    for symbol, allowed in constraints.items():
        here = f"{place}/{symbol}"
        check_name(symbol, here)
        require(isinstance(allowed, list) and allowed, here, "expected a list of dtypes that is not empty")
        for dtype in allowed:
            require(dtype in dtypes or allowed == ["all"], here,
                    f"'{dtype}' is not a dtype (known: {', '.join(dtypes)}; or the list [\"all\"])")
        check_unique(allowed, here)


def check_op(op, path, dtypes):
    check_keys(op, "/", ["name", "dialect", "category", "summary", "versions"])
    check_name(op["name"], "/name")
    require(op["dialect"] in DIALECTS, "/dialect", f"'{op['dialect']}' is not one of {', '.join(DIALECTS)}")
    require(op["dialect"] == path.parent.name, "/dialect",
            f"'{op['dialect']}' does not agree with the folder '{path.parent.name}'")
    require(op["category"] in CATEGORIES, "/category", f"'{op['category']}' is not one of {', '.join(CATEGORIES)}")
    require(isinstance(op["summary"], str) and op["summary"].endswith("."), "/summary",
            "expected one sentence that ends in a full stop")
    require(isinstance(op["versions"], list) and op["versions"], "/versions", "expected at least one version")
    newest = 0
    for i, version in enumerate(op["versions"]):
        here = f"/versions/{i}"
        check_keys(version, here, ["since_version", "inputs", "outputs", "attributes", "type_constraints"])
        since = version["since_version"]
        require(is_integer(since) and since > newest, f"{here}/since_version",
                f"expected an integer above {newest} (oldest version first)")
        newest = since
        check_constraints(version["type_constraints"], f"{here}/type_constraints", dtypes)
        symbols = list(version["type_constraints"])
        check_ports(version["inputs"], f"{here}/inputs", symbols)
        check_ports(version["outputs"], f"{here}/outputs", symbols)
        check_attributes(version["attributes"], f"{here}/attributes")


def read_dtypes(path):
    dtypes = re.findall(r'\{DType::(\w+), "(\w+)"', path.read_text(encoding="utf-8"))
    if not dtypes:
        raise DescriptorError(f"{path}: no dtype rows found")
    return {name: enumerator for enumerator, name in dtypes}


def read_op(path, dtypes):
    try:
        op = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=reject_duplicates)
        check_op(op, path, dtypes)
    except (DescriptorError, ValueError, OSError) as error:
        raise DescriptorError(f"{path}: {error}") from error
    return op


def text(value):
    """A C++ string literal; JSON's escapes are C++'s, apart from \\u, which ASCII text never needs."""
    if not value.isascii():
        raise DescriptorError(f"text is not ASCII: {value!r}")
    return json.dumps(value)


def flag(value):
    return "true" if value else "false"


class Writer:
    """Collects array definitions; every array has a name of its own, and an empty one is written as {}."""

    def __init__(self, dtypes):
        self.dtypes = dtypes
        self.lines = []

    def array(self, kind, name, rows):
        if not rows:
            return "{}"
        self.lines.append(f"constexpr {kind} {name}[] = {{")
        self.lines.extend(f"    {row}," for row in rows)
        self.lines.append("};")
        return name

    def ports(self, name, ports, symbols):
        rows = [f"{{{text(p['name'])}, {symbols.index(p['type'])}, {flag(p.get('optional'))}, "
                f"{flag(p.get('variadic'))}, {flag(p.get('mixed'))}, {flag(p.get('decides_shape'))}}}" for p in ports]
        return self.array("PortDesc", name, rows)

    def attributes(self, name, attributes):
        rows = []
        for i, a in enumerate(attributes):
            allowed = self.array("std::string_view", f"{name}_{i}_allowed", [text(v) for v in a.get("allowed", [])])
            default = text(json.dumps(a["default"])) if "default" in a else '""'
            rows.append(f"{{{text(a['name'])}, AttrType::{ATTR_TYPES[a['type']]}, {flag(a.get('required'))}, "
                        f"{default}, {allowed}}}")
        return self.array("AttrDesc", name, rows)

    def constraints(self, name, constraints):
        rows = []
        for symbol, allowed in constraints.items():
            names = [d for d in self.dtypes if d != "undef"] if allowed == ["all"] else allowed
            bits = " | ".join(f"bit(DType::{self.dtypes[d]})" for d in names)
            rows.append(f"{{{text(symbol)}, {bits}}}")
        return self.array("TypeConstraint", name, rows)

    def op(self, op):
        stem = f"k_{op['dialect']}_{op['name']}"
        rows = []
        for v in op["versions"]:
            name = f"{stem}_{v['since_version']}"
            symbols = list(v["type_constraints"])
            rows.append(f"{{{v['since_version']}, {self.ports(name + '_inputs', v['inputs'], symbols)}, "
                        f"{self.ports(name + '_outputs', v['outputs'], symbols)}, "
                        f"{self.attributes(name + '_attributes', v['attributes'])}, "
                        f"{self.constraints(name + '_constraints', v['type_constraints'])}}}")
        versions = self.array("OpVersion", stem, rows)
        return (f"{{Dialect::{op['dialect']}, {text(op['name'])}, {text(op['category'])}, {text(op['summary'])}, "
                f"{versions}}}")


def main():
    parser = argparse.ArgumentParser(description="Turns the op descriptors into constexpr tables.")
    parser.add_argument("--dtypes", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("ops", type=Path, nargs="+")
    arguments = parser.parse_args()
    try:
        dtypes = read_dtypes(arguments.dtypes)
        ops = {}
        for path in arguments.ops:
            op = read_op(path, dtypes)
            key = (DIALECTS.index(op["dialect"]), op["name"].encode())
            if key in ops:
                raise DescriptorError(f"{path}: op '{op['name']}' of dialect {op['dialect']} is described twice")
            ops[key] = op
        writer = Writer(dtypes)
        writer.array("OpDesc", "k_ops", [writer.op(ops[key]) for key in sorted(ops)])
        lines = ["// Generated by schemas/generate.py from schemas/ops/*/*.json; do not edit.",
                 '#include "schemas/op_table.hpp"', "", "namespace tenfold::schemas {", "namespace {",
                 *writer.lines, "}  // namespace", "",
                 "std::span<const OpDesc> all_ops() noexcept { return k_ops; }", "", "}  // namespace tenfold::schemas"]
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except DescriptorError as error:
        print(f"generate.py: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
