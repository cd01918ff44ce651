# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program on a terminal of its own, whose screen can be read and on which keys can be pressed.

Nobody waits for a time: a key is pressed, and the screen is read until it shows what is expected.
A test that expects what never comes fails after PATIENCE_S.
"""

import curses
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

# Debian's packages, whichever Python this is.
sys.path.append("/usr/lib/python3/dist-packages")
import pyte

PATIENCE_S = 60
TERMINAL = "linux"  # which pyte is


def key(name):
    """What the terminal sends for a key, by its name in terminfo: kf1, kcud1."""
    curses.setupterm(TERMINAL, 1)
    return curses.tigetstr(name)


class Terminal:
    """The program runs until it is left; `status` is as waitpid gives it then."""

    def __init__(self, test, *words, environment, lines=24, columns=100, term=TERMINAL):
        self.test = test
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.written = b""
        self.status = None
        self.master, self.slave = pty.openpty()
        self._size_set(self.slave, lines, columns)
        self.before = self.modes()
        self.pid = os.fork()
        if self.pid == 0:
            self._become(words, dict(environment, TERM=term))
        test.addCleanup(self._end)

    def _become(self, words, environment):
        """The program, with the terminal as its own."""
        try:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(self.slave, fd)
            os.closerange(3, 256)
            os.execve(words[0], list(words), environment)
        finally:
            os._exit(127)

    def _end(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)
        os.close(self.slave)

    @staticmethod
    def _size_set(fd, lines, columns):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, lines, columns):
        """The kernel tells the program."""
        self.screen.resize(lines, columns)
        self._size_set(self.master, lines, columns)

    def modes(self):
        return termios.tcgetattr(self.slave)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def press(self, *keys):
        for each in keys:
            os.write(self.master, each if isinstance(each, bytes) else each.encode())

    def _read(self):
        ready, _, _ = select.select([self.master], [], [], 0.05)
        if not ready:
            return
        try:
            written = os.read(self.master, 65536)
        except OSError:  # nobody has the other end any more
            return
        self.written += written
        self.stream.feed(written)

    def _until(self, condition, what):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                self.test.fail(f"{what} never came; the screen:\n{self.text()}")
            self._read()

    def expect(self, text):
        self._until(lambda: text in self.text(), repr(text))

    def expect_none(self, text):
        self._until(lambda: text not in self.text(), f"the end of {text!r}")

    def expect_line(self, condition, what):
        """Some line is so; gives it."""
        self._until(lambda: any(condition(line) for line in self.lines()), what)
        return next(line for line in self.lines() if condition(line))

    def expect_that(self, condition, what):
        self._until(condition, what)

    def expect_end(self):
        """It ends by itself; gives its status."""

        def ended():
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if pid else None
            return pid != 0

        self._until(ended, "the end of the program")
        for _ in range(2):
            self._read()
        return self.status
