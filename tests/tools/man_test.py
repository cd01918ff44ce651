# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The man pages: free of warnings, and complete: every exported function, option and variable."""

import glob
import os
import re
import subprocess
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MEDLEY = os.environ["MEDLEY"]
COMPILER = os.environ["COMPILER"] + " -std=c17 -Wall -Wextra -Wpedantic -Wconversion -fsyntax-only"


def read(path):
    with open(path) as file:
        return file.read()


def pages(section):
    return sorted(glob.glob(os.path.join(ROOT, "docs", "man", f"*.{section}")))


def path_of(name):
    return os.path.join(ROOT, "docs", "man", name)


def exported():
    listed = read(os.path.join(ROOT, "tests", "exports.txt")).splitlines()
    return sorted(name for name in listed if not name.startswith("#"))


def plain(page):
    """Its text, hyphens as typed."""
    return read(page).replace("\\-", "-")


class Man(unittest.TestCase):
    def test_no_warnings(self):
        for page in pages("[137]"):
            with self.subTest(page=os.path.basename(page)):
                result = subprocess.run(
                    ["groff", "-mandoc", "-ww", "-z", "-Tutf8", page],
                    capture_output=True,
                    text=True,
                )
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_every_function_once(self):
        explained = []
        for page in pages(3):
            names = re.findall(r"(?m)^\.Nm (\w+)", read(page))
            explained += names
            for name in names:
                self.assertRegex(read(page), rf"(?m)^\.(Fn|Fo) {name}\b", page)
        self.assertEqual(sorted(explained), exported())

    def test_every_function_in_the_table_once(self):
        text = read(path_of("mrapi_functions.7"))
        rows = re.findall(r"(?m)^\.It Fn (\w+) Ta (.+) Ta (.+) Ta (.+)$", text)
        self.assertEqual(sorted(row[0] for row in rows), exported())
        explained = set(re.findall(r"(?m)^\.It (\w.*)$", text))
        for name, waits, bound, handler in rows:
            with self.subTest(name=name):
                self.assertLessEqual(set(waits.split()), explained)
                self.assertLessEqual(set(bound.split(", ")), explained)
                self.assertIn(handler, ("yes", "no"))
                safe = waits == "no" and bound in ("yes", "retries")
                self.assertTrue(safe or handler == "no")

    def test_examples_compile(self):
        """Each of section 3 by itself, its headers included."""
        found = 0
        for page in pages(3):
            text = read(page).replace("\\e", "\\").replace("\\-", "-")
            for _, code in re.findall(r"(?s)\n\.Sh EXAMPLES\n(.*?)\.Bd [^\n]*\n(.*?)\.Ed\n", text):
                found += 1
                result = subprocess.run(
                    COMPILER.split()
                    + [f"-I{os.path.join(ROOT, folder)}" for folder in ("include", "include/medley/std")]
                    + ["-x", "c", "-"],
                    input=code,
                    capture_output=True,
                    text=True,
                )
                self.assertEqual((result.returncode, result.stderr), (0, ""), page)
        self.assertGreater(found, 5)

    def test_references(self):
        there = {os.path.basename(page) for page in pages("[17]")}
        for page in pages(3):
            there |= {f"{name}.3" for name in re.findall(r"(?m)^\.Nm (\w+)", read(page))}
            there.add(os.path.basename(page))
        for page in pages("[137]"):
            for name, section in re.findall(r"(?m)^\.Xr (m(?:edley|rapi)\S*) (\d)", read(page)):
                self.assertIn(f"{name}.{section}", there, page)

    def test_the_first_page_leads_to_all_others(self):
        first = read(path_of("medley.7"))
        for page in pages("[137]"):
            name, section = os.path.basename(page).rsplit(".", 1)
            if (name, section) != ("medley", "7") and not name.startswith("medley-"):
                self.assertRegex(first, rf"(?m)^\.Xr {name} {section}\b")

    def test_every_limit_that_is_shown(self):
        shown = subprocess.run(
            [MEDLEY, "info", "--json"], capture_output=True, text=True, check=True
        ).stdout
        variables = re.findall(r"MEDLEY_MAX_[A-Z_]*[A-Z]", shown)
        self.assertIn("MEDLEY_MAX_NODES", variables)
        for variable in variables:
            self.assertRegex(read(path_of("medley-info.1")), rf"\b{variable}\b")

    def test_every_option(self):
        for command in ("explain", "info", "ps", "stress", "system", "top", "trace"):
            shown = subprocess.run(
                [MEDLEY, command, "--help"], capture_output=True, text=True, check=True
            ).stdout
            (page,) = [p for p in pages(1) if p.endswith(f"medley-{command}.1")]
            for option in set(re.findall(r"--([a-z]+)", shown)):
                self.assertIn(f"Fl -{option}", plain(page), page)

    def test_every_variable(self):
        variables = set()
        for path in glob.glob(os.path.join(ROOT, "src", "**", "*.c"), recursive=True):
            if not path.endswith("_test.c"):
                variables |= set(re.findall(r'"(MEDLEY_[A-Z_]*[A-Z])"', read(path)))
        self.assertIn("MEDLEY_SYSTEM", variables)
        for variable in variables:
            self.assertRegex(read(path_of("medley.7")), rf"\b{variable}\b")


if __name__ == "__main__":
    unittest.main()
