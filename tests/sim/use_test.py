# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the simulator's program is called: what is wrong is told, and is never a run that passed.

usage: use_test.py SIM
"""

import pathlib
import re
import subprocess
import sys
import unittest

SIM = sys.argv.pop(1)
BASE = pathlib.Path(__file__).resolve().parents[2] / "src" / "base"


def line_of(file, text):
    lines = (BASE / file).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


class Use(unittest.TestCase):
    def sim(self, *words, status):
        result = subprocess.run([SIM, *words], capture_output=True, text=True, timeout=100)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout, result.stderr

    def test_wrong_use(self):
        for words, message in (
            (("--scenario", "nope"), "--scenario 'nope': there is none"),
            (("--scenario", "lock", "--seeds", "abc"), "--seeds 'abc': want a number"),
            (("--scenario", "lock", "--seeds", "0"), "--seeds '0': want a number from 1 on"),
            (("--scenario", "lock", "--seed", "7x"), "--seed '7x': want a number"),
            (("--scenario", "lock", "--first", "-1"), "--first '-1': want a number"),
            (("--scenario", "lock", "--seeds"), "--seeds '': want a number"),
            (("--colour", "red"), "option '--colour': unknown"),
            (("--mutants", "--weaken", "lock.h:1"), "--weaken 'lock.h:1': --mutants weakens"),
        ):
            with self.subTest(words=words):
                output, errors = self.sim(*words, status=2)
                self.assertIn(message, errors)
                self.assertEqual(len(errors.splitlines()), 1)
                self.assertEqual(output, "")

    def test_help(self):
        output, errors = self.sim("--help", status=0)
        self.assertTrue(output.startswith("usage: sim"))
        self.assertEqual(errors, "")

    def test_a_weakened_order_is_seen_again_as_it_was_printed(self):
        """Scenarios that do not meet it are passed over."""
        place = f"lock.h:{line_of('lock.h', 'R1 held -> A1')}"
        output, errors = self.sim("--scenario", "wait", "--scenario", "lock", "--weaken", place, status=1)
        self.assertEqual(errors, "")
        self.assertTrue(all(line.startswith(("lock: ", " ")) for line in output.splitlines()), output)
        again = re.search(r"again: sim (--scenario lock --seed \d+ --weaken \S+)$", output, re.MULTILINE)
        self.assertIn("lock: seed", self.sim(*again[1].split(), status=1)[0])

    def test_a_failure_of_another_world_is_seen_again_as_it_was_printed(self):
        world = ("--world", "sim_world_litmus", "--scenario", "race_both_write")
        output, _ = self.sim(*world, status=1)
        again = re.search(r"again: sim (--world sim_world_litmus --scenario race_both_write --seed \d+)$",
                          output, re.MULTILINE)
        self.assertIn("race_both_write: seed", self.sim(*again[1].split(), status=1)[0])

    def test_an_order_that_nobody_meets(self):
        for place in ("lock.h:1", "lock.h", f"lock.h:{line_of('lock.h', 'R1 held -> A1')}x"):
            with self.subTest(place=place):
                output, errors = self.sim("--scenario", "wait", "--scenario", "lock", "--weaken", place, status=2)
                self.assertEqual(output, "")
                self.assertEqual(len(errors.splitlines()), 1, errors)
                self.assertIn(f"--weaken '{place}': no order was met there", errors)


if __name__ == "__main__":
    unittest.main()
