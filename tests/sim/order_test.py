# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every acquire and every release of base, mrapi, mcapi and omp is a mutant that some scenario finds, each
half of what does both, and every read-modify-write that a scenario meets is found torn; or it stands
in survivors.c with the reason why none does. None is both. Of fences, the heavy barrier is a
mutant of each scenario in which somebody waits, and the light one is nothing where there is it.

usage: order_test.py ROOT SIM SCENARIO...     those whose mutants are hunted
"""
import os
import re
import subprocess
import sys
import unittest

ROOT, SIM = sys.argv[1:3]
FLOORS = ("src/base/", "src/mrapi/", "src/mcapi/", "src/omp/")
HUNTED = set(sys.argv[3:])
sys.argv[1:] = []
sys.path.insert(0, os.path.join(ROOT, "tests"))

import check_floors  # noqa: E402
import orders  # noqa: E402


KIND = re.compile(r"^(no-release|no-acquire|not-total|torn): ")  # of mutant, before its label


class Access:
    def __init__(self, path, line, function, edges):
        self.path = path
        self.place = f"{path}:{line}"
        self.function = function
        self.edges = edges
        self.says = f"{self.place} {function}: {edges[0] if edges else 'no edge'}"

    def is_called(self, function, label):
        label = KIND.sub("", label)
        return self.function == function and any(e.startswith(label) for e in self.edges)


def accesses():
    for path in sorted(check_floors.files_of(ROOT)):
        if (path.startswith(FLOORS) and check_floors.ORDERED.match(path)
                and path not in check_floors.ATOMIC_FILES):
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                text = file.read()
            code = check_floors.without_comments(text)
            for access in orders.ordered_accesses(text, code):
                yield Access(path, *access)


def is_there(function):
    """What few runs meet, none of these few may."""
    for path in check_floors.files_of(ROOT):
        if path.startswith(FLOORS) and path.endswith((".c", ".h")):
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                if re.search(rf"^{function}\(", file.read(), re.M):
                    return True
    return False


def kind_of(label):
    kind = KIND.match(label)
    return kind[1] if kind else ""


class Orders(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        rows = subprocess.run([SIM, "--orders"], capture_output=True, text=True, check=True).stdout
        rows = [row.split("\t") for row in rows.splitlines()]
        hunted = [(place, function, label, end == "found") for scenario, place, function, label, end in rows
                  if scenario in HUNTED]
        found = {(place, kind_of(label)) for place, _, label, is_found in hunted if is_found}
        lacking = {(place, function, label) for place, function, label, _ in hunted
                   if (place, kind_of(label)) not in found}
        listed = [(function, label) for scenario, _, function, label, _ in rows if scenario == "-"]
        cls.torn_unlisted = sorted(f"{place} {function}: {label}" for place, function, label in lacking
                                   if kind_of(label) == "torn" and not
                                   any(function == f and label.startswith(l) for f, l in listed))
        cls.torn_both = [(f, l) for f, l in listed if kind_of(l) == "torn" and not
                         any(function == f and label.startswith(l) for _, function, label in lacking) and
                         (any(function == f and label.startswith(l) for _, function, label, _ in hunted)
                          or not is_there(f))]
        ordered = {place for place, kind in found if kind != "torn"}
        cls.found = ordered - {place for place, _, label in lacking if kind_of(label) != "torn"}
        cls.listed = [(f, l) for f, l in listed if kind_of(l) != "torn"]
        cls.all = list(accesses())

    def listed_as(self, access):
        return [entry for entry in self.listed if access.is_called(*entry)]

    def test_each_is_found_torn_or_listed(self):
        self.assertEqual(self.torn_unlisted, [])

    def test_none_is_found_torn_and_listed(self):
        self.assertEqual(self.torn_both, [])

    def test_each_is_found_or_listed(self):
        self.assertEqual([a.says for a in self.all
                          if a.place not in self.found and not self.listed_as(a)], [])

    def test_none_is_both(self):
        self.assertEqual([a.says for a in self.all if a.place in self.found and self.listed_as(a)], [])

    def test_each_of_the_list_names_an_edge(self):
        """Else it would speak of those as well that come tomorrow."""
        self.assertEqual([entry for entry in self.listed if not entry[1]], [])

    def test_each_of_the_list_is_there_once(self):
        """In one file: another's may have the same name, and be found."""
        for entry in self.listed:
            with self.subTest(entry=entry):
                self.assertEqual(len({a.path for a in self.all if a.is_called(*entry)}), 1)


if __name__ == "__main__":
    unittest.main()
