# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does what the README, the documents, the tutorials and the manual's examples say, by what is installed.

BUILD in the environment is the folder of a build, which is installed into a folder of its own. To do
one document only: docs_test.py -k tutorial_mrapi.
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
BUILD = os.environ["BUILD"]
SHARED_MEMORY = os.environ.get("MEDLEY_SHM_DIR", "/dev/shm")
NOT_A_USERS = re.compile(r"(MEDLEY|OMP|GOMP|KMP|HWLOC)_|LD_|PKG_CONFIG|CFLAGS|MAKEFLAGS|MFLAGS|MAKELEVEL")


def documents():
    patterns = "README.md", "docs/*.md", "docs/tutorial/*.md"
    return sorted(path for pattern in patterns for path in glob.glob(os.path.join(ROOT, pattern)))


def manuals():
    return sorted(glob.glob(os.path.join(ROOT, "docs", "man", "*.1")))


def setUpModule():
    global work, environment
    work = tempfile.mkdtemp(prefix="docs-test.", dir=BUILD)
    unittest.addModuleCleanup(shutil.rmtree, work)
    prefix = os.path.join(work, "prefix")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    library = os.path.dirname(glob.glob(f"{prefix}/lib*/**/libmedley.so", recursive=True)[0])
    environment = {name: value for name, value in os.environ.items() if not NOT_A_USERS.match(name)}
    environment.update(
        PREFIX=prefix,
        PATH=f"{prefix}/bin:{environment['PATH']}",
        LD_LIBRARY_PATH=library,
        PKG_CONFIG_PATH=f"{library}/pkgconfig",
        SOURCE=ROOT,
        PHOTO=os.path.join(ROOT, "tests", "docs", "photo.png"),
        LC_ALL="C.UTF-8",
        PYTHONDONTWRITEBYTECODE="1",
    )


class Docs(unittest.TestCase):
    maxDiff = None

    def done(self, path, steps):
        """Is everything there as it says?"""
        name = os.path.relpath(path, ROOT)
        shared = tempfile.mkdtemp(prefix="medley-test-", dir=SHARED_MEMORY)
        self.addCleanup(shutil.rmtree, shared, ignore_errors=True)
        folder = os.path.join(work, re.sub(r"\W", "_", name))
        wrong = run_steps(name, steps, ROOT, folder, dict(environment, MEDLEY_SHM_DIR=shared))
        many, reasons = counts(steps)
        print(f"{name}: {many} blocks of commands were run")
        for reason, times in reasons.items():
            print(f"    {times} only to be read: {reason}")
        if wrong:
            self.fail("\n" + wrong)

    def test_there_are_some(self):
        self.assertGreater(len(documents()), 5)
        self.assertGreater(len(manuals()), 5)


def add_test(path, steps_of_this):
    """One for each, so that the others are run when one is wrong."""

    def test(self):
        with open(path) as file:
            self.done(path, steps_of_this(os.path.basename(path), file.read()))

    name = re.sub(r"\W", "_", os.path.relpath(os.path.splitext(path)[0], ROOT))
    setattr(Docs, f"test_{name}", test)


for one in documents():
    add_test(one, steps_of)
for one in manuals():
    add_test(one, steps_of_manual)

if __name__ == "__main__":
    unittest.main()
