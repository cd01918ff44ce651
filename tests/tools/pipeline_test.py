# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/pipeline under medley run: the right picture, whoever is killed; or a clear error."""

import contextlib
import fcntl
import os
import re
import select
import signal
import stat
import struct
import subprocess
import termios
import time
import unittest

from support import MEDLEY, CommandTest, png

PIPELINE = os.environ["PIPELINE"]
TAKEN = os.environ["TAKEN"]
JPEG = os.environ["JPEG"]
WIDTH, HEIGHT = 301, 199  # no whole tiles


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Pipeline(CommandTest):
    def setUp(self):
        super().setUp()
        self.picture = os.path.join(self.folder, "picture.png")
        self.result = os.path.join(self.folder, "result.png")
        self.environment.update(PICTURE=self.picture, RESULT=self.result)
        with open(self.picture, "wb") as file:
            file.write(png(WIDTH, HEIGHT))

    def begin(self, plan="pipeline.yaml", **environment):
        run = subprocess.Popen(
            [MEDLEY, "run", "--verbose", "--file", plan],
            cwd=PIPELINE,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(self.environment, **environment),
        )
        self.addCleanup(run.kill)
        return run

    def stages(self, run):
        """Not what has not become a program yet, or never will: at the command's end the leak
        sanitizer has a child of its own for a moment, and never comes to an end without it."""
        with open(f"/proc/{run.pid}/task/{run.pid}/children") as file:
            children = file.read().split()
        own = os.path.realpath(MEDLEY)
        programs = []
        for child in children:
            with contextlib.suppress(OSError):  # it has ended just now
                if os.readlink(f"/proc/{child}/exe") != own:
                    programs.append(int(child))
        return programs

    def end(self, run, status=0):
        output, errors = run.communicate(timeout=100)
        self.assertEqual(run.returncode, status, output + errors)
        left = [f for f in os.listdir(self.folder) if f.startswith("medley-")]
        self.assertEqual(left, [])
        return output + errors

    def whole(self, **environment):
        self.end(self.begin(**environment))
        return read(self.result)

    def test_same_with_however_many_threads(self):
        pictures = {self.whole(OMP_NUM_THREADS=str(threads)) for threads in (1, 2, 5)}
        self.assertEqual(len(pictures), 1)
        width, height = struct.unpack(">II", pictures.pop()[16:24])
        self.assertEqual((width, height), (WIDTH, HEIGHT))

    def test_whoever_is_killed(self):
        """Each stage, at different times of the run."""
        right = self.whole()
        again = 0
        for i in range(16):
            os.unlink(self.result)
            run = self.begin()
            time.sleep(0.02 + i * 0.012)
            stages = self.stages(run)
            with contextlib.suppress(ProcessLookupError):  # it may have ended just now
                if stages:
                    os.kill(stages[i % len(stages)], signal.SIGKILL)
            again += "it is started again" in self.end(run)
            self.assertEqual(read(self.result), right)
        self.assertGreater(again, 0)

    def test_writing_takes_long(self):
        """Nobody takes the writer for dead. The picture goes into a pipe that is read late."""
        right = self.whole()
        os.unlink(self.result)
        os.mkfifo(self.result)
        run = self.begin()
        while "24 colours in" not in run.stdout.readline():
            pass
        said = b""
        while select.select([run.stderr], [], [], 1.5)[0]:
            self.assertLess(said.count(b"is started again"), 1)
            said += os.read(run.stderr.fileno(), 65536)
        self.assertEqual(read(self.result), right)
        self.end(run)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.result).st_mode))

    def test_bar_is_one_line(self):
        for columns in (20, 80, 200):
            terminal, errors = os.openpty()
            fcntl.ioctl(errors, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            run = subprocess.Popen([MEDLEY, "run", "--file", "pipeline.yaml"], cwd=PIPELINE,
                                   stdout=subprocess.DEVNULL, stderr=errors, env=self.environment)
            self.addCleanup(run.kill)
            os.close(errors)
            shown = b""
            try:
                while some := os.read(terminal, 4096):
                    shown += some
            except OSError:  # no more
                pass
            os.close(terminal)
            self.assertEqual(run.wait(timeout=100), 0)
            lines = shown.decode().replace("\r\n", "").split("\r")
            self.assertGreater(len(lines), 1)
            self.assertLess(max(map(len, lines)), max(columns, 66))

    def with_first(self, stage, lines):
        """What the pipeline says when a stage's first start is those lines of a shell instead."""
        instead = os.path.join(self.folder, stage)
        with open(instead, "w") as file:
            file.write(f"#!/bin/sh\n[ $MEDLEY_RUN_RESTARTS = 0 ] || exec {PIPELINE}/{stage} $1\n{lines}\n")
        os.chmod(instead, 0o755)
        with open(os.path.join(PIPELINE, "pipeline.yaml")) as file:
            plan = file.read().replace(f"./{stage}", instead)
        path = os.path.join(self.folder, "pipeline.yaml")
        with open(path, "w") as file:
            file.write(plan)
        said = self.end(self.begin(path))
        self.assertIn(f"{stage} (process ", said)
        self.assertIn("it is started again", said)
        return said

    def test_writer_dies_behind_its_work(self):
        """It has told the quantiser that the picture is written, which ends; nobody will send again."""
        right = self.whole()
        self.with_first("writer", f"{PIPELINE}/writer $1; kill -9 $$")
        self.assertEqual(read(self.result), right)

    def test_who_has_taken_the_note_dies(self):
        """The quantiser tells the next one, and need not begin anew itself."""
        right = self.whole()
        for stage, node in (("loader", 1), ("writer", 3)):
            os.unlink(self.result)
            said = self.with_first(stage, f"exec {TAKEN} {node}")
            self.assertNotIn("has not connected", said)
            self.assertEqual(read(self.result), right)

    def test_no_picture(self):
        for content, message in ((b"no picture", "it is neither PNG nor JPEG"),
                                 (png(8, 8)[:60], "loader: "), (None, "No such file or directory")):
            os.unlink(self.picture) if content is None else None
            if content is not None:
                with open(self.picture, "wb") as file:
                    file.write(content)
            said = self.end(self.begin(), status=1)
            self.assertIn(message, said)
            self.assertFalse(os.path.exists(self.result))

    def jpeg(self, *words):
        subprocess.run([JPEG, self.picture, *words], check=True)
        return read(self.picture)

    def refused(self, content):
        """What the loader has against that picture."""
        with open(self.picture, "wb") as file:
            file.write(content)
        said = self.end(self.begin(), status=1)
        self.assertFalse(os.path.exists(self.result))
        return re.search("loader: .*?: (.*)", said).group(1)

    def test_stray_bytes_in_a_jpeg(self):
        """The library warns of them, and has the whole picture."""
        content = self.jpeg()
        right = self.whole()
        with open(self.picture, "wb") as file:
            file.write(content[:-2] + b"stray" * 40 + content[-2:])
        os.unlink(self.result)
        self.assertEqual(self.whole(), right)

    def test_jpeg_that_is_cut_off(self):
        """Also where a small picture within it, as cameras lay it there, is whole."""
        content = self.jpeg()
        within = b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content
        for part in (content[:-2], content[: len(content) * 3 // 4],
                     content[:2] + within + content[2 : len(content) * 3 // 4]):
            self.assertEqual(self.refused(part), "it is cut off: the end of it is missing")
        self.assertEqual(self.refused(content[:100]), "there is no picture in it")

    def test_what_the_library_says_of_a_jpeg(self):
        """It is repeated when the library has put all away; asan sees whether it was kept."""
        content = self.jpeg()
        precision = content.index(b"\xff\xc0") + 4
        content = content[:precision] + b"\x0c" + content[precision + 1 :]
        self.assertEqual(self.refused(content), "Unsupported JPEG data precision 12")

    def test_jpeg_of_print(self):
        self.assertIn("CMYK", self.refused(self.jpeg("cmyk")))

    def not_written(self, message, plan="pipeline.yaml", **environment):
        """And nothing is left of it."""
        before = sorted(os.listdir(self.folder)), sorted(os.listdir(PIPELINE))
        said = self.end(self.begin(plan, **environment), status=1)
        self.assertIn("writer: " + message, said)
        self.assertEqual((sorted(os.listdir(self.folder)), sorted(os.listdir(PIPELINE))), before)

    def test_nowhere_to_write(self):
        folder = os.path.join(self.folder, "folder")
        os.mkdir(folder)
        self.not_written("/no/such/folder/result.png: No such file", RESULT="/no/such/folder/result.png")
        self.not_written(f"{folder}: Is a directory", RESULT=folder)
        self.not_written("the result: no file is named", RESULT="")

    def test_no_room_to_write(self):
        """What was there before is there still."""
        with open(os.path.join(PIPELINE, "pipeline.yaml")) as file:
            text = file.read()
        for stage in ("bar", "loader", "quantiser"):
            text = text.replace(f"./{stage}", f"{PIPELINE}/{stage}")
        limited = f"trap '' XFSZ; ulimit -f 0; exec {PIPELINE}/writer"
        path = os.path.join(self.folder, "pipeline.yaml")
        with open(path, "w") as file:
            file.write(text.replace("'exec ./writer \"$RESULT\"'", f'"{limited} $RESULT"'))
        with open(self.result, "w") as file:
            file.write("before")
        self.not_written(f"{self.result}: ", path)
        self.assertEqual(read(self.result), b"before")

    def test_what_lies_beside_the_result_is_another_s(self):
        """As that of a second pipeline with the same result. Its mode is that of any new file."""
        beside = os.listdir(self.folder)
        with open(self.result + ".part", "w") as file:
            file.write("another's")
        self.whole()
        self.assertEqual(read(self.result + ".part"), b"another's")
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(beside + ["result.png", "result.png.part"]))
        modes = {os.stat(path).st_mode for path in (self.result, self.result + ".part")}
        self.assertEqual(len(modes), 1)


if __name__ == "__main__":
    unittest.main()
