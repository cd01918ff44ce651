# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the library says to a person: what was wrong, by its name and its value, and what to do."""

import subprocess
import unittest

from support import HOLDER, CommandTest


class Messages(CommandTest):
    def said(self, *words, status=0, **environment):
        """What a node says on standard error that comes and goes."""
        result = subprocess.run(
            [HOLDER, "0", "1", *map(str, words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            env=dict(self.environment, **environment),
        )
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr

    def test_a_limit_that_is_none(self):
        said = self.said(MEDLEY_SYSTEM="mine", MEDLEY_MAX_NODES="many")
        self.assertIn("MEDLEY_MAX_NODES ignored: it is 'many'; want a number from 1 to", said)

    def test_where_none_may_be_wanted(self):
        said = self.said(MEDLEY_SYSTEM="mine", MEDLEY_TRACE="much")
        self.assertIn("MEDLEY_TRACE ignored: it is 'much'; want a number from 0 to 1048576", said)
        said = self.said(MEDLEY_SYSTEM="mine", MEDLEY_TRACE="1048577")
        self.assertIn("it is '1048577'; want a number from 0 to 1048576", said)
        for none in ("", "0", "00"):
            self.assertNotIn("TRACE", self.said(MEDLEY_SYSTEM="mine", MEDLEY_TRACE=none))

    def test_one_is_not_many(self):
        one = {"MEDLEY_MAX_NODES": "1", "MEDLEY_MAX_PROCESSES": "1", "MEDLEY_MAX_RMEMS": "1"}
        said = self.said(MEDLEY_SYSTEM="mine", MEDLEY_LOG="info", **one)
        self.assertIn("16 domains, 1 process, 1 node, ", said)
        self.assertIn(" 1 remote memory, ", said)

    def test_a_long_value_leaves_room_for_the_advice(self):
        said = self.said(MEDLEY_SYSTEM="mine", MEDLEY_MAX_NODES="9" * 1000)
        self.assertRegex(said, r"9\.\.\.'; want a number from 1 to \d+\n$")

    def test_other_values(self):
        said = self.said(MEDLEY_SYSTEM="mine", MEDLEY_MUTEX_ON_DEATH="weep", MEDLEY_LOG="loud")
        self.assertIn("MEDLEY_MUTEX_ON_DEATH ignored: it is 'weep'; want 'recover' or", said)
        self.assertIn("MEDLEY_LOG ignored: it is 'loud'; want 'quiet'", said)

    def test_a_hidden_name(self):
        said = self.said(status=1, MEDLEY_SYSTEM=".hidden")
        self.assertIn("system '.hidden'", said)
        self.assertIn("does not start with '.'", said)

    def test_a_long_folder(self):
        said = self.said(status=1, MEDLEY_SYSTEM="mine", MEDLEY_SHM_DIR="/" + "a" * 300)
        self.assertIn("(MEDLEY_SHM_DIR) is too long", said)
        self.assertNotIn("a name has", said)

    def test_in_another_system(self):
        said = self.said("open", 7, MEDLEY_SYSTEM="mine")
        self.assertIn("cannot open system '7'", said)
        self.assertIn("this process is in system 'mine' already", said)

    def test_all_limits_are_told(self):
        said = self.said(MEDLEY_SYSTEM="m" * 48, MEDLEY_LOG="info", MEDLEY_BUFFER_BYTES="10000192")
        self.assertEqual(said.count(", 10000192 bytes in a buffer\n"), 2, said)  # comes and goes

    def test_more_exchange_than_there_can_be(self):
        said = self.said(
            "exchange",
            1,
            status=1,
            MEDLEY_SYSTEM="mine",
            MEDLEY_MAX_LANES="65535",
            MEDLEY_LANE_BYTES="65536",
        )
        self.assertIn("more than 4 GiB", said)
        self.assertIn("lower MEDLEY_MAX_LANES, MEDLEY_LANE_BYTES, MEDLEY_MAX_BUFFERS or", said)


if __name__ == "__main__":
    unittest.main()
