# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does what the README, the documents, the tutorials and the manual's examples say, by what is installed.

PREFIX in the environment is where that is. To do one document only: docs_test.py Docs.test_docs_tuning.

A document says what it needs beyond what Medley is built with: commands, packages of pkg-config,
processors that it names:

    <!-- needs: qemu-system-arm libzmq.pc processor-1 -->
"""

import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from document import steps_of
from manual import steps_of_manual
from shell import counts, run_steps

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
PREFIX = os.environ["PREFIX"]
SHARED_MEMORY = os.environ.get("MEDLEY_SHM_DIR", "/dev/shm")
NEEDS = re.compile(r"(?m)^<!-- needs: (.+) -->$")
NOT_A_USERS = re.compile(r"(MEDLEY|OMP|GOMP|KMP|HWLOC)_|LD_|PKG_CONFIG|CFLAGS|MAKEFLAGS|MFLAGS|MAKELEVEL")


def documents():
    patterns = "README.md", "docs/*.md", "docs/tutorial/*.md"
    return sorted(path for pattern in patterns for path in glob.glob(os.path.join(ROOT, pattern)))


def manuals():
    return sorted(glob.glob(os.path.join(ROOT, "docs", "man", "*.[17]")))


def environment_of(shared):
    """A user's, who has it installed there, and an empty folder as shared memory."""
    library = os.path.dirname(glob.glob(f"{PREFIX}/lib*/**/libmedley.so", recursive=True)[0])
    environment = {name: value for name, value in os.environ.items() if not NOT_A_USERS.match(name)}
    return environment | {
        "PREFIX": PREFIX,
        "PATH": f"{PREFIX}/bin:{environment['PATH']}",
        "LD_LIBRARY_PATH": library,
        "PKG_CONFIG_PATH": f"{library}/pkgconfig",
        "MEDLEY_SHM_DIR": shared,
        "SOURCE": ROOT,
        "PHOTO": os.path.join(ROOT, "tests", "docs", "photo.png"),
        "LC_ALL": "C.UTF-8",
    }


def titles_of(path):
    """As links name them."""
    with open(path) as file:
        titles = re.findall(r"(?m)^#+ (.+)$", file.read())
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def is_there(name):
    if name.endswith(".pc"):
        return subprocess.run(["pkg-config", "--exists", name.removesuffix(".pc")]).returncode == 0
    if name.startswith("processor-"):
        return int(name.removeprefix("processor-")) in os.sched_getaffinity(0)
    return shutil.which(name) is not None


class Docs(unittest.TestCase):
    maxDiff = None

    def done(self, path, steps_of_this):
        """Is everything there as it says?"""
        name = os.path.relpath(path, ROOT)
        with open(path) as file:
            text = file.read()
        lacks = [need for needs in NEEDS.findall(text) for need in needs.split() if not is_there(need)]
        if lacks:
            reason = f"not possible here: {name} needs {', '.join(lacks)}"
            print(reason)
            self.skipTest(reason)
        steps = steps_of_this(os.path.basename(path), text)
        shared = tempfile.mkdtemp(prefix="medley-test-", dir=SHARED_MEMORY)
        self.addCleanup(shutil.rmtree, shared, ignore_errors=True)
        work = tempfile.mkdtemp(prefix="medley-docs-")
        self.addCleanup(shutil.rmtree, work)
        wrong = run_steps(name, steps, ROOT, os.path.join(work, "steps"), environment_of(shared))
        many, reasons = counts(steps)
        print(f"{name}: {many} blocks of commands were run")
        for reason, times in reasons.items():
            print(f"    {times} only to be read: {reason}")
        if wrong:
            self.fail("\n" + wrong)

    def test_links(self):
        """Each leads to a file, and to a title in it where it names one."""
        found = 0
        for path in documents() + [os.path.join(ROOT, name) for name in ("ARCHITECTURE.md", "CONTRIBUTING.md")]:
            with open(path) as file:
                text = re.sub(r"(?ms)^```.*?^```$", "", file.read())
            for target, title in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", text):
                with self.subTest(path=os.path.relpath(path, ROOT), target=target, title=title):
                    there = os.path.join(os.path.dirname(path), target) if target else path
                    self.assertTrue(os.path.exists(there))
                    if title:
                        self.assertIn(title, titles_of(there))
                    found += 1
        self.assertGreater(found, 20)

    def test_all_there(self):
        self.assertGreater(len(documents()), 8)
        self.assertGreater(len(manuals()), 5)


def add_test(path, steps_of_this):
    """One for each, so that the others are run when one is wrong."""

    def test(self, path=path):
        self.done(path, steps_of_this)

    path = re.sub(r"\.(md|1)$", "", path)  # medley(7) is not medley(1)
    name = re.sub(r"\W", "_", os.path.relpath(path, ROOT))
    setattr(Docs, f"test_{name}", test)


for one in documents():
    add_test(one, steps_of)
for one in manuals():
    add_test(one, steps_of_manual)

if __name__ == "__main__":
    unittest.main()
