#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants violations in small made-up trees and expects the checks to find them: a check that cannot fail is none."""

import sys
import tempfile
import unittest
from pathlib import Path

import check_docs
import check_files
import check_guards
import check_headers
import check_layers

SPDX = "// SPDX-License-Identifier: Apache-2.0\n//\n// What it is for.\n"


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)

    def plant(self, name, text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SPDX + text)

    def layer_finding(self, name, *includes):
        """The only finding after planting a file with these includes; None when there is none."""
        self.plant(name, "".join(f"#include {i}\n" for i in includes))
        findings = check_layers.check(self.root)
        self.assertLessEqual(len(findings), 1, findings)
        return findings[0] if findings else None


class Layers(Tree):
    def test_legal_includes_pass(self):
        self.assertIsNone(self.layer_finding("graph/ir/graph.hpp", "<vector>", '"schemas/op_table.hpp"'))
        self.assertIsNone(self.layer_finding("graph/read/json.cpp", '"graph/ir/graph.hpp"', "<nlohmann/json.hpp>"))
        self.assertIsNone(self.layer_finding("jit/assembler/assembler.hpp", "<xbyak/xbyak.h>"))
        self.assertIsNone(self.layer_finding("src/runtime/program.hpp", '"jit/abi.hpp"', '"tenfold/status.hpp"'))
        self.assertIsNone(self.layer_finding("src/compile/bind/steps.cpp", '"compile/plan/plan.hpp"', '"graph/eval/eval.hpp"'))
        self.assertIsNone(self.layer_finding("tools/bench/run.cpp", '"schedule/schedule.hpp"', "<CLI/CLI.hpp>"))

    def test_every_room_is_closed_to_its_strangers(self):
        planted = (
            ("graph/ir/graph.hpp", '"jit/emit.hpp"'),
            ("graph/text/print.cpp", '"graph/check/check.hpp"'),
            ("graph/eval/eval.cpp", '"kernel/spec.hpp"'),
            ("graph/pass/fold.cpp", '"schedule/schedule.hpp"'),
            ("src/kernel/spec.hpp", '"graph/ir/graph.hpp"'),
            ("src/target/detect.cpp", '"kernel/spec.hpp"'),
            ("src/schedule/choose.cpp", '"jit/emit.hpp"'),
            ("jit/emit.cpp", '"runtime/program.hpp"'),
            ("jit/vector/avx2.cpp", '"jit/state/state.hpp"'),
            ("jit/nest/nest.cpp", '"jit/rows/rows.hpp"'),
            ("jit/columns/columns.cpp", '"jit/lane/lane.hpp"'),
            ("jit/function/exp.cpp", '"jit/assembler/assembler.hpp"'),
            ("jit/flat/flat.cpp", '"jit/nest/nest.hpp"'),
            ("jit/rows/rows.cpp", '"jit/emit.hpp"'),
            ("jit/unknown/a.cpp", "<vector>"),
            ("src/runtime/run.cpp", '"jit/emit.hpp"'),
            ("src/compile/lower/lower.cpp", '"jit/assembler/assembler.hpp"'),
            ("src/compile/lower/door.cpp", '"graph/pass/rewrite.hpp"'),
            ("src/compile/plan/plan.cpp", '"graph/ir/graph.hpp"'),
            ("src/compile/lower/body.cpp", '"compile/plan/plan.hpp"'),
            ("src/compile/bind/buffers.cpp", '"compile/compile.hpp"'),
            ("src/compile/unknown/a.cpp", "<vector>"),
            ("src/api/plan.cpp", '"compile/plan/plan.hpp"'),
            ("src/api/api.cpp", '"schedule/schedule.hpp"'),
            ("src/api/call.cpp", '"capi/boundary.hpp"'),
            ("src/capi/graph.cpp", '"compile/compile.hpp"'),
            ("tools/run.cpp", '"schedule/schedule.hpp"'),
            ("include/tenfold/graph.hpp", "<nlohmann/json.hpp>"),
            ("include/tenfold/pool.hpp", "<pthread.h>"),
            ("schemas/op_table.hpp", '"graph/ir/graph.hpp"'),
            ("jit/cli.cpp", "<CLI/CLI.hpp>"),
            ("src/kernel/spec.cpp", '"spec.hpp"'),
            ("src/kernel/path.cpp", '"src/kernel/spec.hpp"'),
            ("src/unknown/a.cpp", "<vector>"),
        )
        for name, include in planted:
            with self.subTest(name=name):
                finding = self.layer_finding(name, include)
                self.assertIsNotNone(finding)
                self.assertTrue(finding.startswith(name), finding)
            (self.root / name).unlink()

    def test_a_library_has_one_door(self):
        self.assertIsNone(self.layer_finding("jit/assembler/assembler.hpp", "<xbyak/xbyak.h>"))
        for name in ("jit/emit.cpp", "jit/assembler/frame.hpp"):
            self.assertIn(f"{name}:4", self.layer_finding(name, "<xbyak/xbyak.h>"))
            (self.root / name).unlink()
        self.assertIsNone(self.layer_finding("src/onednn/primitive.hpp", "<oneapi/dnnl/dnnl.hpp>"))
        self.assertIn("src/onednn/spec.hpp:4", self.layer_finding("src/onednn/spec.hpp", "<oneapi/dnnl/dnnl.hpp>"))


class Files(Tree):
    def findings(self):
        return check_files.check(self.root)[0]

    def test_a_good_file_passes(self):
        self.plant("src/kernel/spec.cpp", "int a;\n" * 440)
        self.plant("schemas/ops/core/reduce.json")
        self.assertEqual(self.findings(), [])

    def test_bad_files_are_found(self):
        planted = (
            ("src/kernel/long.cpp", "int a;\n" * 460, "the cap is"),
            ("src/kernel/utils.hpp", "", "says nothing"),
            ("src/kernel/string_helpers.hpp", "", "says nothing"),
            ("src/common/a.hpp", "", "says nothing"),
            ("src/kernel/Spec.hpp", "", "snake_case"),
            ("src/kernel/a.cpp", "// TO" + "DO: later\n", "note to self"),
            ("src/kernel/b.cpp", "#if " + "0\n#endif\n", "switched off"),
            ("tests/unit/c.cpp", "TEST(A, DIS" + "ABLED_b) {}\n", "switched off"),
            ("docs/d.py", "// /ho" + "me/me/tree\n", "somebody's machine"),
        )
        for name, text, words in planted:
            with self.subTest(name=name):
                self.plant(name, text)
                self.assertTrue(any(f.startswith(name) and words in f for f in self.findings()), self.findings())
            (self.root / name).unlink()

    def test_openings(self):
        path = Path("src/kernel/a.cpp")
        self.assertIsNone(check_files.check_opening(path, (SPDX + "int a;\n").splitlines()))
        self.assertIn("does not begin", check_files.check_opening(path, ["int a;"]))
        self.assertIsNone(check_files.check_opening(path, [SPDX.splitlines()[0], "#include <vector>"]))
        header = Path("src/kernel/a.hpp")
        self.assertIsNone(check_files.check_opening(header, [SPDX.splitlines()[0], "//", "// What it is for."]))
        for line in ("int a;", "#include <vector>", "#pragma once"):
            self.assertIn("no paragraph", check_files.check_opening(header, [SPDX.splitlines()[0], line]))


class Docs(Tree):
    def findings(self, readme, example="int main() {\n  one();\n  two();\n}\n"):
        self.plant("tests/api/readme_example.cpp", example)
        (self.root / "README.md").write_text(readme)
        return check_docs.check(self.root)

    def test_links(self):
        here = "# Here: it is\n[a](README.md#here-it-is) [b](https://example.org/x) [c](#here-it-is) [d\nd](README.md)\n"
        self.assertEqual(self.findings(here), [])
        for link in ("[a](docs/gone.md)", "[a](README.md#gone)", "[a](#gone)", "[a\na](docs/gone.md)", "[a\na](#gone)"):
            self.assertEqual(len(self.findings(link + "\n")), 1, link)

    def test_every_page_is_listed(self):
        self.plant("docs/README.md", "[here](listed.md)")
        self.plant("docs/listed.md")
        self.assertEqual(self.findings(""), [])
        self.plant("docs/forgotten.md")
        self.assertEqual(self.findings(""), ["docs/forgotten.md:1: is not listed in docs/README.md"])
        self.plant("docs/README.md", "[here](listed.md) [there](forgotten.md)")
        self.plant("docs/listed.md", "[deep](listed/deep.md)")
        self.plant("docs/listed/deep.md")
        self.assertEqual(self.findings(""), [])
        self.plant("docs/listed/deeper.md")
        self.assertEqual(self.findings(""), ["docs/listed/deeper.md:1: is not listed in docs/listed.md"])

    def test_the_snippet_is_the_example(self):
        self.assertEqual(self.findings("```cpp\none();\n\ntwo();\n```\n"), [])
        self.assertEqual(len(self.findings("```cpp\ntwo();\none();\n```\n")), 1)
        self.assertEqual(len(self.findings("```cpp\nthree();\n```\n")), 1)


class Headers(Tree):
    def test_a_header_must_stand_alone_as_cpp17(self):
        self.plant("include/tenfold/good.hpp", "#pragma once\n#include <string>\nstd::string f();\n")
        self.assertEqual(check_headers.check(self.root, COMPILER), [])
        self.plant("include/tenfold/needs_20.hpp", "#pragma once\n#include <span>\nstd::span<int> f();\n")
        self.plant("include/tenfold/needs_more.hpp", "#pragma once\nstd::string f();\n")
        findings = check_headers.check(self.root, COMPILER)
        self.assertEqual([f.split(":")[0] for f in findings],
                         ["include/tenfold/needs_20.hpp", "include/tenfold/needs_more.hpp"])


class Guards(unittest.TestCase):
    LINE = "  1: 0000000000561ea0     8 {type}  LOCAL  DEFAULT   25 {name}"

    def test_guard_of_ours_is_found(self):
        line = self.LINE.format(type="OBJECT", name="_ZGVZN7tenfold6target4hostEvE5found")
        self.assertEqual(check_guards.guards([line]), ["_ZGVZN7tenfold6target4hostEvE5found"])

    def test_thread_locals_and_others_pass(self):
        lines = [
            self.LINE.format(type="TLS   ", name="_ZGVZN7tenfold7runtime5Arena4keptEvE6buffer"),
            self.LINE.format(type="OBJECT", name="_ZGVZN6google8protobuf3oneEvE5other"),
            self.LINE.format(type="FUNC  ", name="_ZN7tenfold6target4hostEv"),
        ]
        self.assertEqual(check_guards.guards(lines), [])
        self.assertTrue(check_guards.has_locals(lines))


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    unittest.main()
