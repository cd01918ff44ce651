# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/matrix.py: every cell is measured, and stands in the tables and in the pictures."""

import json
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as tree

from support import MEDLEY

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "matrix.py")
SVG = "{http://www.w3.org/2000/svg}"


class Matrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.output = subprocess.run(
            [SCRIPT, "--runs", "1", "--short", MEDLEY, cls.folder],
            capture_output=True,
            text=True,
            check=True,
            timeout=100,
        ).stdout

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def test_every_cell_once(self):
        cells = json.loads(self.read("matrix.json"))["matrix"]
        names = {(c["type"], c["exchange"], c["place"], c["run_as"]) for c in cells}
        self.assertEqual((len(cells), len(names)), (48, 48))
        for cell in cells:
            self.assertGreater(cell["per_second"], 0)
            self.assertLessEqual(cell["median_ns"], cell["p99_ns"])
            self.assertLessEqual(cell["p99_ns"], cell["p99_9_ns"])

    def test_tables(self):
        self.assertEqual(self.output, self.read("matrix.md"))
        everything, penalty, same, speedup = self.output.split("## ")[1:]
        for table, rows in ((everything, 48), (penalty, 8), (same, 8), (speedup, 24)):
            self.assertEqual(sum(line.startswith("| ") for line in table.splitlines()), rows + 1)

    def test_pictures(self):
        for name, shape, count in (("throughput.svg", "rect", 48), ("speedup.svg", "circle", 24)):
            picture = tree.fromstring(self.read(name))
            legend = 4 + 1 if shape == "rect" else 0
            self.assertEqual(len(picture.findall(SVG + shape)), count + legend)
            self.assertNotIn("0x", [words.text for words in picture.iter(SVG + "text")])


if __name__ == "__main__":
    unittest.main()
