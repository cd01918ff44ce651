# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/demo.sh on this build, as `make demo` runs it: with the command, the stages, the libraries.

What it does when things go wrong is shown by scripts_test.py, with a script instead of the command.
"""

import os
import re
import subprocess
import unittest

from processes import processes_with, wait_until
from support import CommandTest, png

BUILD = os.environ["BUILD"]
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "demo.sh")
WRITTEN = ("result.png", "timeline.svg", "timeline.json", "times.txt")


class Demo(CommandTest):
    def setUp(self):
        super().setUp()
        self.temporary = os.path.join(self.folder, "temporary")
        self.written = os.path.join(self.folder, "written")
        self.picture = os.path.join(self.folder, "picture.png")
        os.mkdir(self.temporary)
        with open(self.picture, "wb") as file:
            file.write(png(480, 320))

    def demo(self):
        """Even where its caller uses Medley's OpenMP library for all programs."""
        return subprocess.run(
            [SCRIPT, BUILD, self.picture, self.written],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            env=dict(self.environment, DEMO_ROUNDS="1", TMPDIR=self.temporary,
                     LD_LIBRARY_PATH=os.path.join(BUILD, "openmp")),
        )

    def check_written(self):
        for name in WRITTEN:
            self.assertGreater(os.path.getsize(os.path.join(self.written, name)), 0, name)
        streams = os.path.join(self.written, "timeline.ctf")
        sizes = [os.path.getsize(os.path.join(streams, name)) for name in os.listdir(streams)]
        self.assertGreater(sum(sizes), 0)

    def check_rows(self, said):
        """Each is of its own library: no two are the same file."""
        rows = dict(re.findall(r"(?m)^(medley|libgomp|libomp) .* ms .* ms +same +(/.*)$", said))
        if "libomp: not installed" in said:
            print("not possible here: no libomp to compare with")
            rows["libomp"] = "none"
        self.assertEqual(list(rows), ["medley", "libgomp", "libomp"], said)
        self.assertEqual(len(set(rows.values())), 3, rows)
        self.assertTrue(os.path.samefile(rows["medley"], os.path.join(BUILD, "openmp", "libgomp.so.1")))

    def test_main_job(self):
        result = self.demo()
        said = result.stdout + result.stderr
        self.assertEqual(result.returncode, 0, said)
        self.assertIn("was killed by this demo, on purpose", result.stderr)
        self.check_rows(result.stdout)
        self.check_written()
        self.assertEqual([f for f in os.listdir(self.folder) if f.startswith("medley-")], [])
        self.assertEqual(os.listdir(self.temporary), [])
        # Of all that it has started, which have the folder as their shared memory, and nobody else.
        wait_until(lambda: not processes_with(self.folder))
        self.assertEqual(processes_with(self.folder), [])


if __name__ == "__main__":
    unittest.main()
