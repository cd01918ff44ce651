# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that a test has started, by way of others, perhaps."""

import os
import time


def processes_with(text):
    """Those that have it in their environment, as all that are started by one that has."""
    found = []
    for process in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                found += [process] if text.encode() in file.read() else []
        except OSError:  # it has ended, or is another user's
            pass
    return found


def wait_until(is_so, seconds=60):
    """Looks again and again, since nothing tells of the end of another's child; TimeoutError."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.01)
