# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The simulator's memory model against C11's, by litmus tests (src/port/sim/litmus_test.c): what is
allowed is seen, what is forbidden never, and races are found. And what else it must find
(src/port/sim/failure_test.c).

usage: litmus_test.py SIM
"""

import os
import subprocess
import sys
import unittest

SIM = sys.argv.pop(1)
# The rarest of what is allowed is seen in one seed of some 1,000.
SEEDS = "100000" if os.environ.get("MEDLEY_TEST_EXHAUSTIVE") == "1" else "20000"


class World(unittest.TestCase):
    world = ""

    def sim(self, *words):
        return subprocess.run([SIM, "--world", self.world, *words], capture_output=True, text=True, timeout=600)

    def names(self, begin=""):
        names = [name for name in self.sim("--list").stdout.split() if name.startswith(begin)]
        self.assertTrue(names)
        return names

    def fails_as(self, name, how):
        result = self.sim("--scenario", name, "--seeds", SEEDS)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertRegex(result.stdout.splitlines()[0], rf"^{name}: seed \d+: {how}")

    def passes(self, name):
        result = self.sim("--scenario", name, "--seeds", SEEDS)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


class Litmus(World):
    world = "sim_world_litmus"

    def test_allowed_is_seen(self):
        for name in self.names("may_"):
            with self.subTest(name=name):
                self.fails_as(name, "wrong: .*the outcome")

    def test_forbidden_is_never_seen(self):
        for name in self.names("never_"):
            with self.subTest(name=name):
                self.passes(name)

    def test_races_are_found(self):
        for name in self.names("race_"):
            with self.subTest(name=name):
                self.fails_as(name, "race: ")


class Failures(World):
    world = "sim_world_failure"

    def test_each_is_found(self):
        for name in self.names():
            with self.subTest(name=name):
                kind = name.split("_")[0]
                if kind == "never":
                    self.passes(name)
                else:
                    self.fails_as(name, f"{kind}: ")


if __name__ == "__main__":
    unittest.main()
