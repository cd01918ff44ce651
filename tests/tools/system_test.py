# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""medley system: what there is, and removing what nobody lives in."""

import os
import unittest

from support import CommandTest, Holder


class System(CommandTest):
    def names(self):
        return {row["name"]: row["state"] for row in self.run_json("system", "list")["systems"]}

    def test_list(self):
        self.assertEqual(self.names(), {})
        Holder(self, 0, 1, "create", 1, "sem3", 2, "sem3", 3, "rwl", 4, system="living")
        Holder(self, 0, 1, system="left").kill()
        self.assertEqual(self.names(), {"living": "live", "left": "stale"})
        (living,) = [
            row
            for row in self.run_json("system", "list")["systems"]
            if row["name"] == "living"
        ]
        self.assertEqual((living["processes"], living["nodes"], living["shmems"]), (1, 1, 0))
        # Of each kind of lock by itself; those called locks are mutexes, as ps calls them.
        self.assertEqual((living["locks"], living["semaphores"], living["rwlocks"]), (1, 2, 1))
        self.assertEqual(living["size_bytes"], os.stat(self.file_of("living")).st_size)
        output, _ = self.run_medley("system", "list")
        self.assertIn("living", output)

    def test_remove_stale_only(self):
        Holder(self, 0, 1, system="living")
        for name in ("left", "behind"):
            Holder(self, 0, 1, system=name).kill()
        self.assertEqual(
            self.run_json("system", "remove", "--stale"), {"removed": ["behind", "left"]}
        )
        self.assertEqual(self.names(), {"living": "live"})
        output, _ = self.run_medley("system", "remove", "--stale")
        self.assertEqual(output, "no stale systems\n")

    def test_remove_named(self):
        Holder(self, 0, 1, system="left").kill()
        output, _ = self.run_medley("system", "remove", "left")
        self.assertEqual(output, "removed left\n")
        self.assertFalse(os.path.exists(self.file_of("left")))
        _, errors = self.run_medley("system", "remove", "left", status=1)
        self.assertIn("no system 'left'", errors)

    def test_remove_living(self):
        holder = Holder(self, 0, 1, system="living")
        Holder(self, 0, 1, system="left").kill()
        output, errors = self.run_medley("system", "remove", "living", "left", status=1)
        self.assertIn("'living' is in use", errors)
        self.assertEqual(output, "removed left\n")  # the one does not keep the other
        self.assertEqual(self.names(), {"living": "live"})
        holder.end()
        self.assertEqual(self.names(), {})

    def test_refused(self):
        Holder(self, 0, 1, system="open").kill()
        os.chmod(self.file_of("open"), 0o644)
        _, errors = self.run_medley("system", "remove", "open", status=1)
        self.assertIn("'open' is refused", errors)
        self.assertEqual(self.names(), {"open": "refused"})

    def test_unclear_folder(self):
        Holder(self, 0, 1, system="left").kill()
        for command in (["system", "remove", "--stale"], ["system", "list"], ["ps"], ["info"]):
            _, errors = self.run_medley(*command, status=1, MEDLEY_SHM_DIR="from/here")
            self.assertIn("MEDLEY_SHM_DIR is 'from/here': want a path from the root", errors)
        self.assertEqual(self.names(), {"left": "stale"})

    def test_blocked(self):
        who = self.stay_in_section("blocked")
        Holder(self, 0, 1, system="left").kill()
        output, errors = self.run_medley("system", "list", status=1)
        self.assertIn(f"system 'blocked' is blocked: {who}", errors)
        self.assertIn("left", output)
        output, errors = self.run_medley("system", "remove", "--stale", status=1)
        self.assertIn(f"system 'blocked' is blocked: {who}", errors)
        self.assertEqual(output, "removed left\n")
        _, errors = self.run_medley("system", "remove", "blocked", status=1)
        self.assertIn(f"system 'blocked' is blocked: {who}", errors)
        self.assertTrue(os.path.exists(self.file_of("blocked")))


if __name__ == "__main__":
    unittest.main()
