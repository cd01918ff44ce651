# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The scripts behind the Makefile: what the machine cannot do is counted, and never called passed."""

import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

CTEST = """#!/bin/sh
mkdir -p build/Testing/Temporary
echo "1/2 Test #1: one ...   Passed"
echo "$*" >asked
echo "100% tests passed, 0 tests failed out of 2"
echo
echo "Total Test time (real) =   0.01 sec"
# The log is complete when ctest has ended, and not before.
printf 'not possible here: no FIFO (one)\\nnot possible here: no FIFO (one)\\n' \\
    >build/Testing/Temporary/LastTest.log
exit 8
"""


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.programs = os.path.join(self.folder, "bin")
        os.mkdir(self.programs)

    def run_script(self, *words, path):
        return subprocess.run(
            [os.path.join(ROOT, words[0]), *words[1:]],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            env={"PATH": path},
        )

    def test_the_count_stands_before_the_summary(self):
        with open(os.path.join(self.programs, "ctest"), "w") as file:
            file.write(CTEST)
        os.chmod(file.name, 0o755)
        result = self.run_script(
            "scripts/test.sh", "build", "-j", "2", path=f"{self.programs}:{os.environ['PATH']}"
        )
        self.assertEqual(result.returncode, 8, result.stderr)
        lines = [line for line in result.stdout.splitlines() if line]
        self.assertEqual(lines[0], "1/2 Test #1: one ...   Passed")
        self.assertEqual(lines[1].split(), "2 not possible here: no FIFO (one)".split())
        self.assertEqual(lines[2], "not possible here: 2 tests")
        self.assertEqual(lines[3], "100% tests passed, 0 tests failed out of 2")
        self.assertEqual(lines[4], "Total Test time (real) =   0.01 sec")
        with open(os.path.join(self.folder, "asked")) as file:
            self.assertIn("-j 2", file.read())

    def test_no_compiler_is_not_passed(self):
        for program in ("env", "bash", "dirname"):
            os.symlink(shutil.which(program), os.path.join(self.programs, program))
        for script in (
            "tests/bare/run_riscv.sh",
            "tests/bare/run_cortex_m.sh",
            "scripts/footprint.sh",
        ):
            with self.subTest(script=script):
                result = self.run_script(script, path=self.programs)
                self.assertEqual(result.returncode, 77, result.stderr)
                self.assertRegex(result.stdout, r"^not possible here: no [a-z0-9-]+gcc ")


if __name__ == "__main__":
    unittest.main()
