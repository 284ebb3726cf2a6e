# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas agree with what they describe: the op descriptors, the graph files of the tests, the hostile ones
that a schema can catch, and the lists that generate.py and dtype.hpp hold.

usage: schema_test.py PROJECT_FOLDER
"""

import importlib.util
import json
import re
import sys
import unittest
from pathlib import Path

PROJECT = Path(sys.argv.pop())
try:
    import jsonschema
except ImportError:
    jsonschema = None

# One of each kind that JSON Schema can express; the others break rules of the reader that it cannot.
CAUGHT = ["attr_bool_two", "attr_fractional_axis", "attr_list_is_scalar", "attr_without_type", "dim_negative",
          "dtype_unknown", "engine_kind_unknown", "graph_is_object", "layout_unknown", "no_graph", "op_id_negative",
          "op_kind_missing", "rank_13", "root_is_array", "tensor_without_shape"]


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def enum_of(schema, *path):
    for key in path:
        schema = schema[key]
    return schema["enum"]


class Lists(unittest.TestCase):
    def test_dtypes(self):
        header = (PROJECT / "include/tenfold/dtype.hpp").read_text(encoding="utf-8")
        dtypes = re.findall(r'\{DType::\w+, "(\w+)"', header)
        op = load(PROJECT / "schemas/op.schema.json")
        graph = load(PROJECT / "schemas/graph.schema.json")
        self.assertEqual(enum_of(op, "definitions", "dtype"), ["all", *dtypes])
        self.assertEqual(enum_of(graph, "definitions", "tensor", "properties", "dtype"), dtypes)

    def test_generator(self):
        spec = importlib.util.spec_from_file_location("generate", PROJECT / "schemas/generate.py")
        generate = importlib.util.module_from_spec(spec)
        sys.dont_write_bytecode = True
        spec.loader.exec_module(generate)
        op = load(PROJECT / "schemas/op.schema.json")
        self.assertEqual(enum_of(op, "properties", "category"), generate.CATEGORIES)
        self.assertEqual(enum_of(op, "properties", "dialect"), generate.DIALECTS)
        self.assertEqual(enum_of(op, "definitions", "attribute", "properties", "type"), list(generate.ATTR_TYPES))


@unittest.skipIf(jsonschema is None, "NOT RUN: needs python3-jsonschema")
class Documents(unittest.TestCase):
    def check(self, schema_name, folder, count):
        validator = jsonschema.Draft7Validator(load(PROJECT / "schemas" / schema_name))
        paths = sorted((PROJECT / folder).rglob("*.json"))
        self.assertGreaterEqual(len(paths), count)
        for path in paths:
            with self.subTest(path.name):
                self.assertEqual([f"{list(e.path)}: {e.message}" for e in validator.iter_errors(load(path))], [])

    def test_schemas(self):
        for path in (PROJECT / "schemas").glob("*.schema.json"):
            jsonschema.Draft7Validator.check_schema(load(path))

    def test_ops(self):
        self.check("op.schema.json", "schemas/ops", 40)

    def test_graphs(self):
        self.check("graph.schema.json", "tests/data/graphs", 12)

    def test_hostile(self):
        validator = jsonschema.Draft7Validator(load(PROJECT / "schemas/graph.schema.json"))
        for name in CAUGHT:
            with self.subTest(name):
                self.assertFalse(validator.is_valid(load(PROJECT / "tests/data/hostile" / f"{name}.json")))


if __name__ == "__main__":
    unittest.main()
