# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the simulator's program is called: what is wrong is told, and is never a run that passed.

usage: use_test.py SIM
"""

import subprocess
import sys
import unittest

SIM = sys.argv.pop(1)


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


if __name__ == "__main__":
    unittest.main()
