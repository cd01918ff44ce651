# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the medley command share: running it, nodes for it to look at, a picture.

The built programs come from the environment (tests/tools/CMakeLists.txt): MEDLEY, HOLDER.
Every test uses a folder of its own as shared memory, so that it sees its own systems only.
"""

import fcntl
import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

MEDLEY = os.environ["MEDLEY"]
HOLDER = os.environ["HOLDER"]
SECTION_BYTE = 1 << 30  # the file's lock of the section: src/port/linux/shared.h
SHARED_MEMORY = os.environ.get("MEDLEY_SHM_DIR", "/dev/shm")


def png(width, height):
    """A picture of soft and hard edges."""
    rows = b"".join(
        b"\0" + bytes(v for x in range(width) for v in (x * 255 // width, y * 255 // height, 255 * (x // 40 % 2)))
        for y in range(height)
    )
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


class Holder:
    """A process that is a node; tests/tools/holder.c says what the words mean.

    `within` is a command that runs it, if any does; `pid` is that one's then."""

    def __init__(self, test, *words, system, errors=None, within=()):
        environment = dict(test.environment, MEDLEY_SYSTEM=system)
        self.process = subprocess.Popen(
            [*within, HOLDER, *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
        )
        self.pid = self.process.pid
        self.test = test
        test.addCleanup(self.kill)
        self.expect_ready()

    def expect_ready(self):
        self.test.assertEqual(self.process.stdout.readline(), "ready\n")

    def kill(self):
        """On return it is gone, and has been waited for."""
        self.process.kill()
        self._wait()

    def end(self):
        """It leaves in order."""
        self.process.stdin.close()
        self._wait()

    def _wait(self):
        """What ran it may be gone before it is: nobody has the other end of its output then."""
        self.process.wait()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        if not self.process.stdout.closed:
            self.process.stdout.read()
            self.process.stdout.close()


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="medley-test-", dir=SHARED_MEMORY)
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("MEDLEY_")
        }
        self.environment["MEDLEY_SHM_DIR"] = self.folder

    def apart(self, *namespaces):
        """The beginning of a command that runs in namespaces of its own, as the user it is. In one
        for processes it is the second there: signals that stop do not stop the first."""
        ways = ["unshare", *namespaces, "--kill-child"], ["unshare", "--user", "--map-current-user"]
        shell = ["sh", "-c", '"$@"; exit', "sh"]
        for way in (ways[0] + shell, ways[1] + ways[0][1:] + shell):
            if subprocess.run([*way, "true"], capture_output=True).returncode == 0:
                return way
        reason = f"not possible here: no namespaces of one's own ({' '.join(namespaces)})"
        print(reason)
        self.skipTest(reason)

    def run_medley(self, *words, status=0, within=(), **environment):
        """Runs it, checks its exit status, and gives what it wrote: (output, errors)."""
        result = subprocess.run(
            [*within, MEDLEY, *map(str, words)],
            capture_output=True,
            text=True,
            timeout=60,
            env=dict(self.environment, **environment),
        )
        self.assertEqual(result.returncode, status, f"{words}: {result.stdout}{result.stderr}")
        return result.stdout, result.stderr

    def run_json(self, *words, **others):
        output, errors = self.run_medley(*words, "--json", **others)
        self.assertEqual(errors, "")
        return json.loads(output)

    def look(self, system, **others):
        """What `medley ps` says of one system."""
        systems = self.run_json("ps", system, **others)["systems"]
        self.assertEqual([s["name"] for s in systems], [system])
        return systems[0]

    def file_of(self, system):
        return os.path.join(self.folder, f"medley-{os.geteuid()}-{system}")

    def stay_in_section(self, system):
        """This process is at opening or closing the system, and does not go on."""
        file = open(os.open(self.file_of(system), os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        self.addCleanup(file.close)
        fcntl.lockf(file, fcntl.LOCK_EX, 1, SECTION_BYTE)
        return f"process {os.getpid()} has it locked"
