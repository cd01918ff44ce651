# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The simulator's memory model against C11's, by litmus tests (src/port/sim/litmus_test.c): what is
allowed is seen, what is forbidden never, and races are found.

usage: litmus_test.py SIM
"""

import os
import subprocess
import sys
import unittest

SIM = sys.argv.pop(1)
WORLD = ("--world", "sim_world_litmus")
# The rarest of what is allowed is seen in one seed of some 1,000.
SEEDS = "100000" if os.environ.get("MEDLEY_TEST_EXHAUSTIVE") == "1" else "20000"


def sim(*words):
    return subprocess.run([SIM, *WORLD, *words], capture_output=True, text=True, timeout=600)


class Litmus(unittest.TestCase):
    def names(self, begin):
        names = [name for name in sim("--list").stdout.split() if name.startswith(begin)]
        self.assertTrue(names)
        return names

    def fails_as(self, name, how):
        result = sim("--scenario", name, "--seeds", SEEDS)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertRegex(result.stdout.splitlines()[0], rf"^{name}: seed \d+: {how}")

    def test_allowed_is_seen(self):
        for name in self.names("may_"):
            with self.subTest(name=name):
                self.fails_as(name, ".*the outcome")

    def test_forbidden_is_never_seen(self):
        for name in self.names("never_"):
            with self.subTest(name=name):
                result = sim("--scenario", name, "--seeds", SEEDS)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_races_are_found(self):
        for name in self.names("race_"):
            with self.subTest(name=name):
                self.fails_as(name, "race: ")


if __name__ == "__main__":
    unittest.main()
