# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""README.md shows the examples as they are, and names only what is there."""

import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read(*path):
    with open(os.path.join(ROOT, *path)) as file:
        return file.read()


class Readme(unittest.TestCase):
    def setUp(self):
        self.text = read("README.md")

    def test_examples(self):
        shown = re.findall(r"^```c(?: file=[^\n]*)?\n(.*?)^```$", self.text, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(shown), 2)
        self.assertEqual(shown[0], read("examples", "two_processes.c"))
        self.assertIn(shown[1], read("examples", "exchange.c"))

    def test_make_targets(self):
        makefile = read("Makefile")
        targets = re.findall(r"`make ([a-z-]+)`", self.text)
        self.assertGreater(len(targets), 5)
        for target in targets:
            self.assertRegex(makefile, rf"(?m)^(?:[a-z-]+ )*{target}(?: [a-z-]+)*:")

    def test_all_make_targets_are_told(self):
        targets = re.findall(r"(?m)^#   make ([a-z-]+)", read("Makefile"))
        self.assertGreater(len(targets), 5)
        told = re.findall(r"(?m)^\| `[^`]*make ([a-z-]+)` \|", self.text)
        self.assertEqual(sorted(told), sorted(targets))

    def test_links(self):
        links = re.findall(r"\]\(([^)#]+)\)", self.text)
        self.assertGreater(len(links), 3)
        for link in links:
            self.assertTrue(os.path.exists(os.path.join(ROOT, link)), link)

    def test_place_for_figures(self):
        self.assertEqual(self.text.count("<!-- bench:begin -->"), 1)
        self.assertRegex(self.text, r"(?s)<!-- bench:begin -->.*<!-- bench:end -->")


if __name__ == "__main__":
    unittest.main()
