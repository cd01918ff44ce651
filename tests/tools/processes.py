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


def wait_until(is_so):
    """Not for ever: the test looks itself, then."""
    end = time.monotonic() + 60
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)
