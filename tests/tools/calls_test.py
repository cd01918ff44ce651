# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No system call per message while both sides run: counted by strace.

Who is told "not yet" looks now and then, after some time, whether the other lives: these calls have
nothing to do with how many messages go. They are told from the others by their names.
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

ONE_WAY = os.environ["ONE_WAY"]
COUNT = 20000
CALLS_MOST = COUNT // 200  # what is done once
LOOK = re.compile(r"^(fcntl\(.*F_(OFD_)?GETLK|getpid\()")
KINDS = ("states", "packets", "scalars", "messages")
MARK = re.compile(r'^write\(1, "(begin|end) ([a-z]+)\\n"')


def not_possible(test, reason):
    print("not possible here: " + reason)
    test.skipTest(reason)


class Calls(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = os.path.join(folder.name, "log")
        if not shutil.which("strace"):
            not_possible(self, "no strace (scripts/setup.sh test installs it)")
        if subprocess.run(["strace", "-o", self.log, "true"], capture_output=True).returncode:
            not_possible(self, "strace may not trace")

    def calls(self, how):
        """Of each node, the calls that it made between its marks, for each kind."""
        environment = dict(os.environ, MEDLEY_SYSTEM="calls-%d" % os.getpid())
        subprocess.run(
            ["strace", "-f", "-o", self.log, ONE_WAY, how, str(COUNT)],
            env=environment,
            stdout=subprocess.DEVNULL,
            timeout=100,
            check=True,
        )
        nodes, now = {}, {}
        with open(self.log) as log:
            for line in log:
                task, call = line.split(None, 1)
                mark = MARK.match(call)
                if mark and mark[1] == "begin":
                    now[task] = nodes.setdefault(task, {}).setdefault(mark[2], [])
                elif mark:
                    del now[task]
                elif task in now and not call.startswith("<... "):
                    now[task].append(call)
        return nodes

    def check(self, how):
        nodes = self.calls(how)
        self.assertEqual(len(nodes), 2)
        for calls in nodes.values():
            self.assertEqual(sorted(calls), sorted(KINDS))
            for kind in KINDS:
                with self.subTest(kind=kind):
                    others = [call for call in calls[kind] if not LOOK.match(call)]
                    self.assertLessEqual(len(others), CALLS_MOST, others[:5])
                    self.assertLess(len(calls[kind]), COUNT, calls[kind][:5])

    def test_threads(self):
        self.check("threads")

    def test_processes(self):
        self.check("processes")


if __name__ == "__main__":
    unittest.main()
