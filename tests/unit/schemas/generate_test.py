# SPDX-License-Identifier: Apache-2.0
"""schemas/generate.py refuses descriptors that break its rules, names the place, and never writes a file then.

usage: generate_test.py PROJECT_FOLDER
"""

import copy
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(sys.argv.pop())
GOOD = json.loads((PROJECT / "schemas/ops/onednn/reduce_max.json").read_text(encoding="utf-8"))


class Generate(unittest.TestCase):
    def run_on(self, text, dialect="onednn", copies=1):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for i in range(copies):
                path = Path(folder) / dialect / f"op_{i}.json"
                path.parent.mkdir(exist_ok=True)
                path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
                paths.append(path)
            output = Path(folder) / "table.cpp"
            done = subprocess.run([sys.executable, PROJECT / "schemas/generate.py", "--dtypes",
                                   PROJECT / "include/tenfold/dtype.hpp", "--output", output, *paths],
                                  capture_output=True, text=True, check=False)
            return done, output.read_text(encoding="utf-8") if output.exists() else None

    def refuse(self, text, *expected, **how):
        done, table = self.run_on(text, **how)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIsNone(table)
        for part in expected:
            self.assertIn(part, done.stderr)

    def changed(self, change):
        op = copy.deepcopy(GOOD)
        change(op)
        return op

    def test_good(self):
        done, table = self.run_on(GOOD)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"ReduceMax"', table)

    def test_syntax(self):
        self.refuse("{", "op_0.json", "line 1 column 2")
        self.refuse('{"name": "A", "name": "B"}', "key 'name' occurs twice")

    def test_keys(self):
        self.refuse(self.changed(lambda op: op.pop("summary")), "at /: key 'summary' is missing")
        self.refuse(self.changed(lambda op: op.update(note=1)), "at /: unknown key 'note'")
        self.refuse(self.changed(lambda op: op["versions"][0]["inputs"][0].pop("type")),
                    "at /versions/0/inputs/0: key 'type' is missing")

    def test_names(self):
        self.refuse(GOOD, "at /dialect: 'onednn' does not agree with the folder 'core'", dialect="core")
        self.refuse(GOOD, "op 'ReduceMax' of dialect onednn is described twice", copies=2)
        self.refuse(self.changed(lambda op: op.update(name="Reduce Max")), "at /name: expected a name")
        self.refuse(self.changed(lambda op: op.update(category="stuff")), "at /category: 'stuff' is not one of")
        self.refuse(self.changed(lambda op: op["versions"][0]["inputs"][1].update(name="src")), "'src' stands twice")

    def test_types(self):
        self.refuse(self.changed(lambda op: op["versions"][0]["type_constraints"].update(T1=["float"])),
                    "at /versions/0/type_constraints/T1: 'float' is not a dtype")
        self.refuse(self.changed(lambda op: op["versions"][0]["outputs"][0].update(type="T9")),
                    "at /versions/0/outputs/0/type: 'T9' is not among type_constraints")
        self.refuse(self.changed(lambda op: op["versions"][0]["attributes"][0].update(type="s32[]")),
                    "at /versions/0/attributes/0/type: 's32[]' is not one of")

    def test_attributes(self):
        self.refuse(self.changed(lambda op: op["versions"][0]["attributes"][1].update(default=0)),
                    "at /versions/0/attributes/1/default: does not have the type bool")
        self.refuse(self.changed(lambda op: op["versions"][0]["attributes"][1].update(required=True)),
                    "a required attribute has no default")
        self.refuse(self.changed(lambda op: op["versions"][0]["attributes"][0].update(allowed=["x"])),
                    "only a string attribute has allowed values")

    def test_versions(self):
        self.refuse(self.changed(lambda op: op.update(versions=[])), "expected at least one version")
        self.refuse(self.changed(lambda op: op["versions"].append(op["versions"][0])),
                    "at /versions/1/since_version: expected an integer above 1")

    def test_ports(self):
        self.refuse(self.changed(lambda op: op["versions"][0]["inputs"][0].update(variadic=True)),
                    "only the last port may be variadic")


if __name__ == "__main__":
    unittest.main()
